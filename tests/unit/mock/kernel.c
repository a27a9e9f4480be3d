// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One mutex guards all of it; `changed` is signalled for anything that somebody may wait for. In a
 * lock request the mutex is released between pages, as the real kernel releases the object's.
 */
#include "mock/kernel.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mock/kernel-private.h"
#include "mock/rt.h"

#define NAMES 4096
#define PAGE  ((size_t)4096)

#define CONFIRM_FIRST ((mach_port_t)0x10000000) /* no other port has such a name */
#define CONFIRMS      64u

struct mock_port {
    struct mock_port *next_free;
    unsigned int nrefs;
    mach_port_t name; /* the task's, or null */
    bool dead;
    struct mock_object *kernel; /* whose control port this is */
    struct port_bucket *bucket; /* whose pager this is */
    void *pager;
    struct mock_object *mapped; /* the object that the task and its clients have mapped */
    unsigned int nsend;         /* send rights that are not the task's */
    struct mock_port *notice;   /* where to say that there are no send rights any more */
};

/* A port for confirmations: its name is CONFIRM_FIRST and so on. */
struct confirm {
    bool used;
    unsigned int ntold;
};

struct right {
    struct mock_port *port;
    unsigned int nsend;
    bool receive;
};

struct message {
    struct message *next;
    struct mock_port *target;
    struct mock_port *control;
    struct mock_port *name;
    struct mock_delivery body;
    bool received; /* its memory and rights are the task's */
};

struct port_bucket {
    struct message *head;
    struct message **tail;
    size_t nqueued;
    bool hold;
    bool handling;
};

struct page {
    bool resident;
    bool wanted; /* asked for */
    bool busy;   /* on its way out */
    bool dirty;
    bool precious;
    bool error; /* what is left of a request until the client that made it has run */
    bool unlocking;
    vm_prot_t lock;
};

struct mock_object {
    struct mock_port *pager;
    struct mock_port *control;
    struct mock_port *name;
    bool ready;
    bool destroyed;
    boolean_t may_cache;
    memory_object_copy_strategy_t copy_strategy;
    size_t batch;
    size_t npaging; /* threads inside */
    size_t npages;
    struct page *pages;
    unsigned char *memory;

    /* Of what the task maps (mock_object_map). */
    size_t nmappings;
    size_t memory_bytes; /* of memory, when it is mmap's */
    unsigned char *view; /* the same memory as the task may touch it, or null */
};

/* Pages of a lock request that go into one message. */
struct batch {
    size_t first;
    size_t npages;
    bool dirty;
    vm_address_t data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct right rights[NAMES];
static struct mock_port *free_ports;
static struct confirm confirms[CONFIRMS];
static bool silent; /* nothing is confirmed */
static size_t nsupplies;
static bool jitter;
static bool hold_batches;
static size_t nheld; /* lock requests that wait for that */
static bool hold_supplies;
static size_t nheld_supplies;
static size_t nlocks;
static size_t nsupplied;

static void enter(void)
{
    pthread_mutex_lock(&lock);
}

static void leave(void)
{
    pthread_mutex_unlock(&lock);
}

static void changed_wait(void)
{
    pthread_cond_wait(&changed, &lock);
}

static void changed_signal(void)
{
    pthread_cond_broadcast(&changed);
}

static void page_set(void *page, uint64_t value)
{
    uint64_t *words = page;

    for (size_t i = 0; i < PAGE / sizeof(*words); i++)
        words[i] = value;
}

/* Ports and the task's rights. */

mach_port_t mach_task_self(void)
{
    return NAMES;
}

static struct mock_port *port_create(void)
{
    struct mock_port *port = free_ports;

    if (port != NULL)
        free_ports = port->next_free;
    else
        port = malloc(sizeof(*port));
    mock_check(port != NULL);
    *port = (struct mock_port){.nrefs = 1};
    return port;
}

static struct mock_port *port_ref(struct mock_port *port)
{
    port->nrefs++;
    return port;
}

static void port_deref(struct mock_port *port)
{
    if (port == NULL || --port->nrefs > 0)
        return;
    port->next_free = free_ports;
    free_ports = port;
}

/* The task's right for PORT, a new one if it has none. */
static struct right *right_of(struct mock_port *port)
{
    mach_port_t name = port->name;

    if (name == MACH_PORT_NULL) {
        for (name = 1; rights[name].port != NULL; name++)
            mock_check(name < NAMES - 1);
        port->name = name;
        rights[name] = (struct right){.port = port_ref(port)};
    }
    return &rights[name];
}

static void notice_send(struct mock_port *notice);

/* Send rights for PORT have gone: tell who wants to know when those were the last. */
static void port_check_senders(struct mock_port *port)
{
    struct mock_port *notice = port->notice;

    if (notice == NULL || port->nsend > 0 ||
        (port->name != MACH_PORT_NULL && rights[port->name].nsend > 0))
        return;
    port->notice = NULL;
    notice_send(notice);
    port_deref(notice);
}

static void right_release(struct right *right)
{
    struct mock_port *port = right->port;

    if (right->nsend > 0 || right->receive)
        return;
    port->name = MACH_PORT_NULL;
    right->port = NULL;
    port_deref(port);
}

static struct right *right_lookup(mach_port_t name)
{
    mock_check(name != MACH_PORT_NULL && name < NAMES);
    return &rights[name];
}

static mach_port_t copyout_send(struct mock_port *port)
{
    struct right *right;

    if (port == NULL)
        return MACH_PORT_NULL;
    if (port->dead)
        return MACH_PORT_DEAD;
    right = right_of(port);
    right->nsend++;
    return port->name;
}

static mach_port_t copyout_receive(struct mock_port *port)
{
    right_of(port)->receive = true;
    return port->name;
}

kern_return_t mach_port_deallocate(mach_port_t task, mach_port_t name)
{
    struct right *right;

    mock_check(task == mach_task_self());
    enter();
    right = right_lookup(name);
    if (right->nsend == 0)
        mock_fail("send right %u dropped that is not there", name);
    right->nsend--;
    port_check_senders(right->port);
    right_release(right);
    leave();
    return KERN_SUCCESS;
}

kern_return_t mach_port_insert_right(mach_port_t task, mach_port_t name, mach_port_t right,
                                     mach_msg_type_name_t type)
{
    mock_check(task == mach_task_self() && name == right && type == MACH_MSG_TYPE_MAKE_SEND);
    enter();
    mock_check(right_lookup(name)->receive);
    right_lookup(name)->nsend++;
    leave();
    return KERN_SUCCESS;
}

kern_return_t mach_port_request_notification(mach_port_t task, mach_port_t name, int message,
                                             unsigned int sync, mach_port_t notify,
                                             mach_msg_type_name_t type, mach_port_t *previous)
{
    struct mock_port *port;

    mock_check(task == mach_task_self() && message == MACH_NOTIFY_NO_SENDERS && sync == 0 &&
               type == MACH_MSG_TYPE_MAKE_SEND_ONCE);
    enter();
    mock_check(right_lookup(name)->receive && right_lookup(notify)->receive);
    port = right_lookup(name)->port;
    port_deref(port->notice);
    port->notice = port_ref(right_lookup(notify)->port);
    port_check_senders(port);
    leave();
    *previous = MACH_PORT_NULL;
    return KERN_SUCCESS;
}

void mock_right_give(mach_port_t name)
{
    struct right *right;

    enter();
    right = right_lookup(name);
    mock_check(right->nsend > 0);
    right->nsend--;
    right->port->nsend++;
    right_release(right);
    leave();
}

void mock_right_drop(mach_port_t name)
{
    struct mock_port *port;

    enter();
    port = right_lookup(name)->port;
    mock_check(port->nsend > 0);
    port->nsend--;
    port_check_senders(port);
    leave();
}

static void right_add(struct right *right, mach_port_delta_t delta)
{
    mock_check(delta > 0 || right->nsend >= (unsigned int)-delta);
    right->nsend += (unsigned int)delta;
    if (delta > 0)
        return;
    port_check_senders(right->port);
    right_release(right);
}

kern_return_t mach_port_mod_refs(mach_port_t task, mach_port_t name, mach_port_right_t which,
                                 mach_port_delta_t delta)
{
    struct right *right;
    kern_return_t result = KERN_SUCCESS;

    mock_check(task == mach_task_self());
    enter();
    right = right_lookup(name);
    if (which == MACH_PORT_RIGHT_SEND) {
        mock_check(right->nsend > 0);
        if (right->port->dead)
            result = KERN_INVALID_RIGHT;
        else
            right_add(right, delta);
    } else if (which == MACH_PORT_RIGHT_DEAD_NAME) {
        mock_check(right->port->dead && delta < 0);
        right_add(right, delta);
    } else {
        mock_check(which == MACH_PORT_RIGHT_RECEIVE && delta == -1 && right->receive);
        right->receive = false;
        right->port->dead = true;
        port_deref(right->port->notice);
        right->port->notice = NULL;
        right_release(right);
    }
    leave();
    return result;
}

size_t mock_rights(void)
{
    size_t count = 0;

    enter();
    for (size_t i = 0; i < NAMES; i++)
        if (rights[i].port != NULL && rights[i].port->bucket == NULL)
            count += rights[i].nsend + rights[i].receive;
    leave();
    return count;
}

/* Buckets and messages. */

static void message_free(struct message *message)
{
    if (!message->received && message->body.id == MOCK_DATA_RETURN && message->body.length > 0)
        mock_memory_free(message->body.data, message->body.length);
    if (!message->received && message->body.id == MOCK_TERMINATE) {
        message->control->dead = true;
        message->name->dead = true;
    }
    port_deref(message->target);
    port_deref(message->control);
    port_deref(message->name);
    free(message);
}

/* Drop the messages to TARGET, whose receive right is being destroyed. */
static void bucket_purge(struct port_bucket *bucket, const struct mock_port *target)
{
    struct message **link = &bucket->head;
    struct message *message;

    while ((message = *link) != NULL) {
        if (message->target == target) {
            *link = message->next;
            bucket->nqueued--;
            message_free(message);
        } else {
            link = &message->next;
        }
    }
    bucket->tail = link;
}

error_t ports_create_bucket(struct port_bucket **bucket)
{
    *bucket = calloc(1, sizeof(**bucket));
    mock_check(*bucket != NULL);
    (*bucket)->tail = &(*bucket)->head;
    return 0;
}

error_t ports_create_port(struct port_bucket *bucket, void *object, mach_port_t *port)
{
    struct mock_port *created;

    enter();
    created = port_create();
    created->bucket = bucket;
    created->pager = object;
    *port = copyout_receive(created);
    port_deref(created);
    leave();
    return 0;
}

void *ports_lookup_port(struct port_bucket *bucket, mach_port_t port)
{
    void *object = NULL;

    enter();
    if (port < NAMES && rights[port].port != NULL && rights[port].port->bucket == bucket)
        object = rights[port].port->pager;
    leave();
    return object;
}

void ports_destroy_port(struct port_bucket *bucket, mach_port_t port)
{
    struct right *right;

    enter();
    right = right_lookup(port);
    mock_check(right->receive && right->port->bucket == bucket);
    right->receive = false;
    right->port->dead = true;
    port_deref(right->port->notice);
    right->port->notice = NULL;
    bucket_purge(bucket, right->port);
    right_release(right);
    changed_signal();
    leave();
}

static void message_queue(struct message *message)
{
    struct port_bucket *bucket = message->target->bucket;

    if (message->target->dead) {
        message_free(message);
        return;
    }
    *bucket->tail = message;
    bucket->tail = &message->next;
    bucket->nqueued++;
    changed_signal();
}

static void message_send(const struct mock_object *object, struct mock_delivery body)
{
    struct message *message = calloc(1, sizeof(*message));

    mock_check(message != NULL);
    message->body = body;
    message->target = port_ref(object->pager);
    message->control = port_ref(object->control);
    if (body.id == MOCK_INIT || body.id == MOCK_TERMINATE)
        message->name = port_ref(object->name);
    message_queue(message);
}

static void notice_send(struct mock_port *notice)
{
    struct message *message = calloc(1, sizeof(*message));

    mock_check(message != NULL);
    message->body.id = MOCK_NO_SENDERS;
    message->target = port_ref(notice);
    message_queue(message);
}

kern_return_t mach_port_get_receive_status(mach_port_t task, mach_port_t name,
                                           mach_port_status_t *status)
{
    const struct mock_port *port;

    mock_check(task == mach_task_self());
    enter();
    mock_check(right_lookup(name)->receive);
    port = right_lookup(name)->port;
    *status = (mach_port_status_t){.mps_srights = right_lookup(name)->nsend + port->nsend > 0};
    for (const struct message *m = port->bucket->head; m != NULL; m = m->next)
        status->mps_msgcount += m->target == port;
    leave();
    return KERN_SUCCESS;
}

static void message_copyout(const struct message *message, struct mock_delivery *delivery)
{
    *delivery = message->body;
    delivery->object = message->target->name;
    if (delivery->id == MOCK_TERMINATE) {
        delivery->control = copyout_receive(message->control);
        delivery->name = copyout_receive(message->name);
    } else if (delivery->id != MOCK_CHANGE_COMPLETED) {
        delivery->control = copyout_send(message->control);
        delivery->name = copyout_send(message->name);
    }
}

/* Take the next message of BUCKET, which there is. */
static void receive(struct port_bucket *bucket, struct mock_delivery *delivery)
{
    struct message *message = bucket->head;

    bucket->head = message->next;
    if (bucket->head == NULL)
        bucket->tail = &bucket->head;
    bucket->nqueued--;
    bucket->handling = true;
    message_copyout(message, delivery);
    message->received = true;
    message_free(message);
}

void mock_receive(struct port_bucket *bucket, struct mock_delivery *delivery)
{
    enter();
    bucket->handling = false;
    changed_signal();
    while (bucket->head == NULL || bucket->hold)
        changed_wait();
    receive(bucket, delivery);
    leave();
}

bool mock_receive_queued(struct port_bucket *bucket, struct mock_delivery *delivery)
{
    bool queued;

    enter();
    queued = bucket->head != NULL && !bucket->hold;
    if (queued)
        receive(bucket, delivery);
    leave();
    return queued;
}

void mock_receiver_hold(struct port_bucket *bucket, bool hold)
{
    enter();
    bucket->hold = hold;
    changed_signal();
    leave();
}

void mock_receiver_wait(struct port_bucket *bucket)
{
    enter();
    while (bucket->head != NULL || bucket->handling)
        changed_wait();
    leave();
}

bool mock_receiver_is_idle(struct port_bucket *bucket)
{
    bool idle;

    enter();
    idle = bucket->head == NULL && !bucket->handling;
    leave();
    return idle;
}

size_t mock_queued(struct port_bucket *bucket)
{
    size_t nqueued;

    enter();
    nqueued = bucket->nqueued;
    leave();
    return nqueued;
}

/* Objects. */

void mock_set_jitter(bool on)
{
    enter();
    jitter = on;
    leave();
}

static void *object_page(const struct mock_object *object, size_t page)
{
    return object->memory + page * PAGE;
}

void mock_hold_batches(bool hold)
{
    enter();
    hold_batches = hold;
    changed_signal();
    leave();
}

void mock_await_held(size_t count)
{
    enter();
    while (nheld < count)
        changed_wait();
    leave();
}

void mock_hold_supplies(bool hold)
{
    enter();
    hold_supplies = hold;
    changed_signal();
    leave();
}

void mock_await_supply(void)
{
    enter();
    while (nheld_supplies == 0)
        changed_wait();
    leave();
}

/* The object behind CONTROL, a name of the task; null when it has gone. */
static struct mock_object *object_lookup(mach_port_t control)
{
    struct right *right = right_lookup(control);

    if (right->nsend == 0)
        mock_fail("call on the name %u, which stands for nothing", control);
    return right->port->dead ? NULL : right->port->kernel;
}

/* An object of NPAGES without memory. */
static struct mock_object *object_create(size_t npages)
{
    struct mock_object *object = calloc(1, sizeof(*object));

    mock_check(object != NULL);
    object->batch = MOCK_BATCH;
    object->npages = npages;
    object->pages = calloc(npages, sizeof(*object->pages));
    mock_check(object->pages != NULL);
    return object;
}

/* OBJECT is what PORT stands for. */
static void object_init(struct mock_object *object, struct mock_port *port)
{
    object->pager = port_ref(port);
    object->control = port_create();
    object->control->kernel = object;
    object->name = port_create();
    message_send(object, (struct mock_delivery){.id = MOCK_INIT, .length = PAGE});
}

struct mock_object *mock_map(mach_port_t port, size_t npages)
{
    struct mock_object *object = object_create(npages);

    object->memory = aligned_alloc(PAGE, npages * PAGE);
    mock_check(object->memory != NULL);
    enter();
    object_init(object, right_lookup(port)->port);
    leave();
    return object;
}

/* Memory for all of OBJECT; with VIEW the task may touch it, as far as page_protect says. */
static void object_reserve(struct mock_object *object, bool view)
{
    int fd = memfd_create("mock_object", 0);

    object->memory_bytes = object->npages * PAGE;
    mock_check(fd >= 0 && ftruncate(fd, (off_t)object->memory_bytes) == 0);
    object->memory = mmap(NULL, object->memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    mock_check(object->memory != MAP_FAILED);
    if (view) {
        object->view = mmap(NULL, object->memory_bytes, PROT_NONE, MAP_SHARED, fd, 0);
        mock_check(object->view != MAP_FAILED);
    }
    close(fd);
}

struct mock_object *mock_object_map(mach_port_t name, size_t npages, bool view)
{
    struct mock_port *port;
    struct mock_object *object;

    enter();
    port = right_lookup(name)->port;
    object = port->mapped;
    if (object == NULL) {
        object = object_create(view ? npages : MOCK_PAGES_MAX);
        object_reserve(object, view);
        object_init(object, port);
        port->mapped = object;
        port->nsend++; /* the kernel's */
    }
    mock_check(npages <= object->npages && view == (object->view != NULL));
    object->nmappings++;
    leave();
    return object;
}

void mock_object_unmap(struct mock_object *object)
{
    struct mock_port *port;
    bool last;

    enter();
    last = --object->nmappings == 0;
    port = port_ref(object->pager);
    if (last)
        port->mapped = NULL;
    leave();
    if (!last)
        goto port;
    mock_unmap(object);
    enter();
    port->nsend--;
    port_check_senders(port);
    leave();
port:
    enter();
    port_deref(port);
    leave();
}

unsigned char *mock_object_view(const struct mock_object *object)
{
    return object->view;
}

/* Let the task touch a page as far as the pager need not be asked and the page is dirty already. */
static void page_protect(const struct mock_object *object, size_t i)
{
    const struct page *page = &object->pages[i];
    int prot = PROT_READ;

    if (object->view == NULL)
        return;
    if (!page->resident || page->busy)
        prot = PROT_NONE;
    else if (page->dirty && (page->lock & VM_PROT_WRITE) == 0)
        prot = PROT_READ | PROT_WRITE;
    mock_check(mprotect(object->view + i * PAGE, PAGE, prot) == 0);
}

void mock_set_batch(struct mock_object *object, size_t npages)
{
    enter();
    object->batch = npages;
    leave();
}

/* The ports leave the kernel, with memory_object_terminate if the pager is there to get it. */
static void object_terminate(struct mock_object *object)
{
    message_send(object, (struct mock_delivery){.id = MOCK_TERMINATE});
    object->control->kernel = NULL;
    object->destroyed = true;
    changed_signal();
}

static void page_clear(struct mock_object *object, size_t i)
{
    object->pages[i] = (struct page){.wanted = object->pages[i].wanted};
    page_protect(object, i);
}

static void return_send(struct mock_object *object, vm_offset_t offset, vm_address_t data,
                        vm_size_t length, boolean_t dirty, boolean_t kernel_copy)
{
    message_send(object, (struct mock_delivery){.id = MOCK_DATA_RETURN,
                                                .offset = offset,
                                                .length = length,
                                                .data = data,
                                                .dirty = dirty,
                                                .kernel_copy = kernel_copy});
}

/* Evict a page that is resident and not busy. */
static void page_evict(struct mock_object *object, size_t i)
{
    struct page *page = &object->pages[i];
    vm_address_t data;

    if (page->dirty || page->precious) {
        data = mock_memory_alloc(PAGE);
        page->busy = true;
        page_protect(object, i);
        memcpy((void *)data, object_page(object, i), PAGE);
        return_send(object, i * PAGE, data, PAGE, page->dirty, FALSE);
    }
    page_clear(object, i);
    changed_signal();
}

bool mock_pageout(struct mock_object *object, size_t i)
{
    bool evicted;

    enter();
    evicted = object->pages[i].resident && !object->pages[i].busy && !object->destroyed;
    if (evicted)
        page_evict(object, i);
    leave();
    return evicted;
}

void mock_unmap(struct mock_object *object)
{
    enter();
    while (object->npaging > 0)
        changed_wait();
    for (size_t i = 0; i < object->npages; i++)
        if (object->pages[i].resident)
            page_evict(object, i);
    if (!object->destroyed)
        object_terminate(object);
    port_deref(object->pager);
    port_deref(object->control);
    port_deref(object->name);
    leave();
    free(object->pages);
    if (object->memory_bytes == 0)
        free(object->memory);
    else
        munmap(object->memory, object->memory_bytes);
    if (object->view != NULL)
        munmap(object->view, object->memory_bytes);
    free(object);
}

static void request_send(struct mock_object *object, enum mock_id id, size_t i, vm_prot_t access)
{
    message_send(object, (struct mock_delivery){
                             .id = id, .offset = i * PAGE, .length = PAGE, .access = access});
}

/* One step towards a page that can be used. True when it can, or RESULT is an error. */
static bool fault_step(struct mock_object *object, size_t i, vm_prot_t access,
                       kern_return_t *result)
{
    struct page *page = &object->pages[i];

    *result = KERN_SUCCESS;
    if (object->destroyed || page->error) {
        page->error = false;
        *result = KERN_MEMORY_ERROR;
        return true;
    }
    if (!object->ready || page->busy)
        return false;
    if (!page->resident) {
        if (!page->wanted) {
            page->wanted = true;
            request_send(object, MOCK_DATA_REQUEST, i, access);
            changed_signal();
        }
        return false;
    }
    if ((page->lock & access) == 0)
        return true;
    if (!page->unlocking)
        request_send(object, MOCK_DATA_UNLOCK, i, access);
    page->unlocking = true;
    return false;
}

static kern_return_t fault(struct mock_object *object, size_t i, vm_prot_t access)
{
    kern_return_t result;

    mock_check(i < object->npages);
    object->npaging++;
    while (!fault_step(object, i, access, &result))
        changed_wait();
    object->npaging--;
    changed_signal();
    return result;
}

kern_return_t mock_fault(struct mock_object *object, size_t i, bool write)
{
    kern_return_t result;

    enter();
    result = fault(object, i, write ? VM_PROT_READ | VM_PROT_WRITE : VM_PROT_READ);
    if (result == KERN_SUCCESS && write)
        object->pages[i].dirty = true;
    if (result == KERN_SUCCESS)
        page_protect(object, i);
    leave();
    return result;
}

/* Make the page of PLACE usable. Plain memory always is. */
static kern_return_t place_fault(const struct mock_place *place, bool write)
{
    if (place->bad)
        return KERN_MEMORY_ERROR;
    return place->object == NULL ? KERN_SUCCESS
                                 : fault(place->object, place->offset / PAGE,
                                         write ? VM_PROT_READ | VM_PROT_WRITE : VM_PROT_READ);
}

static bool place_usable(const struct mock_place *place)
{
    const struct page *page;

    if (place->object == NULL)
        return true;
    page = &place->object->pages[place->offset / PAGE];
    return page->resident && !page->busy;
}

static void *place_address(const struct mock_place *place)
{
    return place->object == NULL ? place->plain : place->object->memory + place->offset;
}

kern_return_t mock_copy(const struct mock_place *to, const struct mock_place *from, size_t bytes)
{
    kern_return_t result;

    enter();
    do { /* one may go while the other is waited for */
        result = place_fault(from, false);
        if (result == KERN_SUCCESS)
            result = place_fault(to, true);
    } while (result == KERN_SUCCESS && !place_usable(from));
    if (result == KERN_SUCCESS) {
        memmove(place_address(to), place_address(from), bytes);
        if (to->object != NULL) {
            to->object->pages[to->offset / PAGE].dirty = true;
            page_protect(to->object, to->offset / PAGE);
        }
    }
    leave();
    return result;
}

kern_return_t mock_write(struct mock_object *object, size_t i, uint64_t value)
{
    kern_return_t result;

    enter();
    result = fault(object, i, VM_PROT_READ | VM_PROT_WRITE);
    if (result == KERN_SUCCESS) {
        page_set(object_page(object, i), value);
        object->pages[i].dirty = true;
    }
    leave();
    return result;
}

kern_return_t mock_read(struct mock_object *object, size_t i, uint64_t *value)
{
    kern_return_t result;

    enter();
    result = fault(object, i, VM_PROT_READ);
    if (result == KERN_SUCCESS) {
        memcpy(value, object_page(object, i), sizeof(*value));
        mock_check(memcmp(object_page(object, i), (unsigned char *)object_page(object, i) + 8,
                          PAGE - 8) == 0);
    }
    leave();
    return result;
}

void mock_touch(struct mock_object *object, size_t i)
{
    kern_return_t result;

    enter();
    while (!object->ready)
        changed_wait();
    fault_step(object, i, VM_PROT_READ, &result);
    leave();
}

bool mock_wanted(struct mock_object *object, size_t i)
{
    bool wanted;

    enter();
    wanted = object->pages[i].wanted;
    leave();
    return wanted;
}

void mock_await_wanted(struct mock_object *object, size_t i)
{
    enter();
    while (!object->pages[i].wanted)
        changed_wait();
    leave();
}

void mock_await_failed(struct mock_object *object, size_t i)
{
    enter();
    while (!object->pages[i].error)
        changed_wait();
    leave();
}

void mock_await_absent(struct mock_object *object, size_t i)
{
    enter();
    while (object->pages[i].resident || object->pages[i].busy)
        changed_wait();
    leave();
}

void mock_fill(struct mock_object *object, size_t first, size_t npages, uint64_t value)
{
    enter();
    while (!object->ready)
        changed_wait();
    for (size_t i = 0; i < npages; i++) {
        page_set(object_page(object, first + i), value + i);
        object->pages[first + i] = (struct page){.resident = true, .dirty = true};
    }
    leave();
}

struct port_bucket *mock_bucket(const struct mock_object *object)
{
    return object->pager->bucket;
}

bool mock_resident(struct mock_object *object, size_t i)
{
    bool resident;

    enter();
    resident = object->pages[i].resident;
    leave();
    return resident;
}

bool mock_dirty(struct mock_object *object, size_t i)
{
    bool dirty;

    enter();
    dirty = object->pages[i].resident && object->pages[i].dirty;
    leave();
    return dirty;
}

bool mock_precious(struct mock_object *object, size_t i)
{
    bool precious;

    enter();
    precious = object->pages[i].resident && object->pages[i].precious;
    leave();
    return precious;
}

bool mock_failed(struct mock_object *object, size_t i)
{
    bool failed;

    enter();
    failed = object->pages[i].error;
    leave();
    return failed;
}

boolean_t mock_may_cache(struct mock_object *object)
{
    boolean_t may_cache;

    enter();
    may_cache = object->may_cache;
    leave();
    return may_cache;
}

memory_object_copy_strategy_t mock_copy_strategy(struct mock_object *object)
{
    memory_object_copy_strategy_t copy_strategy;

    enter();
    copy_strategy = object->copy_strategy;
    leave();
    return copy_strategy;
}

bool mock_destroyed(struct mock_object *object)
{
    bool destroyed;

    enter();
    destroyed = object->destroyed;
    leave();
    return destroyed;
}

void mock_send_return(struct mock_object *object, vm_offset_t offset, vm_size_t length,
                      uint64_t value, boolean_t dirty, boolean_t kernel_copy)
{
    vm_address_t data = length == 0 ? 0 : mock_memory_alloc(length);

    for (size_t i = 0; i < length / PAGE; i++)
        page_set((void *)(data + i * PAGE), value + i);
    enter();
    return_send(object, offset, data, length, dirty, kernel_copy);
    leave();
}

void mock_send_request(struct mock_object *object, vm_offset_t offset, vm_size_t length)
{
    enter();
    message_send(object, (struct mock_delivery){.id = MOCK_DATA_REQUEST,
                                                .offset = offset,
                                                .length = length,
                                                .access = VM_PROT_READ});
    leave();
}

void mock_send_unlock(struct mock_object *object, vm_offset_t offset, vm_size_t length)
{
    enter();
    message_send(object, (struct mock_delivery){.id = MOCK_DATA_UNLOCK,
                                                .offset = offset,
                                                .length = length,
                                                .access = VM_PROT_WRITE});
    leave();
}

size_t mock_nlocks(void)
{
    size_t count;

    enter();
    count = nlocks;
    leave();
    return count;
}

size_t mock_nsupplied(void)
{
    size_t count;

    enter();
    count = nsupplied;
    leave();
    return count;
}

/* What pagers call. */

kern_return_t memory_object_ready(mach_port_t control, boolean_t may_cache,
                                  memory_object_copy_strategy_t copy_strategy)
{
    struct mock_object *object;

    enter();
    object = object_lookup(control);
    if (object != NULL) {
        object->ready = true;
        object->may_cache = may_cache;
        object->copy_strategy = copy_strategy;
    }
    changed_signal();
    leave();
    return KERN_SUCCESS;
}

kern_return_t memory_object_change_attributes(mach_port_t control, boolean_t may_cache,
                                              memory_object_copy_strategy_t copy_strategy,
                                              mach_port_t reply_to)
{
    struct mock_object *object;

    mock_check(reply_to != MACH_PORT_NULL);
    enter();
    object = object_lookup(control);
    if (object != NULL) {
        object->may_cache = may_cache;
        object->copy_strategy = copy_strategy;
        message_send(object, (struct mock_delivery){.id = MOCK_CHANGE_COMPLETED});
    }
    leave();
    return object == NULL ? MACH_SEND_INVALID_DEST : KERN_SUCCESS;
}

kern_return_t memory_object_destroy(mach_port_t control, kern_return_t reason)
{
    struct mock_object *object;

    (void)reason;
    enter();
    object = object_lookup(control);
    if (object != NULL) {
        for (size_t i = 0; i < object->npages; i++)
            object->pages[i] = (struct page){.resident = false};
        if (object->view != NULL)
            mprotect(object->view, object->memory_bytes, PROT_NONE);
        object_terminate(object);
    }
    leave();
    return KERN_SUCCESS;
}

/* A page arrives, unless one is there. */
static void supply_page(struct mock_object *object, size_t i, const void *data, vm_prot_t prot,
                        boolean_t precious)
{
    struct page *page;

    mock_check(i < object->npages);
    page = &object->pages[i];
    while (page->busy)
        changed_wait();
    if (page->resident || page->error)
        return;
    memcpy(object_page(object, i), data, PAGE);
    *page = (struct page){.resident = true, .lock = prot, .precious = precious != FALSE};
    page_protect(object, i);
    nsupplied++;
    changed_signal();
}

/* => entered. */
static struct confirm *confirm_lookup(mach_port_t port)
{
    mock_check(port >= CONFIRM_FIRST && port < CONFIRM_FIRST + CONFIRMS);
    mock_check(confirms[port - CONFIRM_FIRST].used);
    return &confirms[port - CONFIRM_FIRST];
}

mach_port_t mock_confirm_create(void)
{
    mach_port_t i = 0;

    enter();
    for (; confirms[i].used; i++)
        mock_check(i + 1 < CONFIRMS);
    confirms[i] = (struct confirm){.used = true};
    leave();
    return CONFIRM_FIRST + i;
}

void mock_confirm_destroy(mach_port_t port)
{
    enter();
    confirm_lookup(port)->used = false;
    leave();
}

bool mock_confirm_receive(mach_port_t port)
{
    struct confirm *confirm;
    bool told;

    enter();
    confirm = confirm_lookup(port);
    told = confirm->ntold > 0;
    confirm->ntold -= told;
    leave();
    return told;
}

void mock_set_confirming(bool on)
{
    enter();
    silent = !on;
    leave();
}

size_t mock_nsupplies(void)
{
    size_t count;

    enter();
    count = nsupplies;
    leave();
    return count;
}

kern_return_t memory_object_data_supply(mach_port_t control, vm_offset_t offset, vm_offset_t data,
                                        mach_msg_type_number_t length, boolean_t deallocate,
                                        vm_prot_t prot, boolean_t precious, mach_port_t reply_to)
{
    struct mock_object *object;

    mock_check(offset % PAGE == 0 && length % PAGE == 0);
    enter();
    nheld_supplies++;
    changed_signal();
    while (hold_supplies)
        changed_wait();
    nheld_supplies--;
    object = object_lookup(control);
    /* The kernel leaves out what follows a page that it has. Who supplies several knows better. */
    for (size_t i = 0; i < length / PAGE && length > PAGE && object != NULL; i++)
        mock_check(!object->pages[offset / PAGE + i].resident &&
                   !object->pages[offset / PAGE + i].error);
    for (size_t i = 0; i < length / PAGE && object != NULL; i++)
        supply_page(object, offset / PAGE + i, (void *)(data + i * PAGE), prot, precious);
    nsupplies += object != NULL;
    if (object != NULL && reply_to != MACH_PORT_NULL && !silent)
        confirm_lookup(reply_to)->ntold++;
    leave();
    if (object == NULL)
        return MACH_SEND_INVALID_DEST;
    if (deallocate)
        mock_memory_free(data, length);
    return KERN_SUCCESS;
}

kern_return_t memory_object_data_unavailable(mach_port_t control, vm_offset_t offset,
                                             vm_size_t size)
{
    struct mock_object *object;

    mock_check(offset % PAGE == 0 && size == PAGE);
    enter();
    object = object_lookup(control);
    if (object != NULL && object->pages[offset / PAGE].wanted) {
        memset(object_page(object, offset / PAGE), 0, PAGE);
        object->pages[offset / PAGE] = (struct page){.resident = true};
        page_protect(object, offset / PAGE);
        changed_signal();
    }
    leave();
    return KERN_SUCCESS;
}

kern_return_t memory_object_data_error(mach_port_t control, vm_offset_t offset, vm_size_t size,
                                       kern_return_t error)
{
    struct mock_object *object;

    mock_check(error != KERN_SUCCESS);
    enter();
    object = object_lookup(control);
    if (object != NULL && offset / PAGE < object->npages && size == PAGE &&
        object->pages[offset / PAGE].wanted) {
        object->pages[offset / PAGE] = (struct page){.error = true};
        changed_signal();
    }
    leave();
    return KERN_SUCCESS;
}

/* Lock requests. */

static void batch_send(struct mock_object *object, struct batch *batch, bool flush)
{
    if (batch->npages == 0)
        return;
    if (jitter) {
        leave();
        sched_yield();
        enter();
    }
    nheld++;
    changed_signal();
    while (hold_batches)
        changed_wait();
    nheld--;
    return_send(object, batch->first * PAGE, batch->data, batch->npages * PAGE, batch->dirty,
                !flush);
    for (size_t i = 0; i < batch->npages && flush; i++)
        page_clear(object, batch->first + i);
    batch->npages = 0;
    changed_signal();
}

static void batch_add(struct mock_object *object, struct batch *batch, size_t i, bool flush)
{
    struct page *page = &object->pages[i];

    if (batch->npages == 0) {
        batch->first = i;
        batch->dirty = page->dirty;
        batch->data = mock_memory_alloc(object->batch * PAGE);
    }
    page->dirty = false;
    page->busy = flush;
    page_protect(object, i);
    memcpy((void *)(batch->data + batch->npages * PAGE), object_page(object, i), PAGE);
    batch->npages++;
}

/* The message's memory is as long as its data. */
static void batch_trim(struct batch *batch, size_t limit)
{
    vm_address_t data;

    if (batch->npages == 0 || batch->npages == limit)
        return;
    data = mock_memory_alloc(batch->npages * PAGE);
    memcpy((void *)data, (void *)batch->data, batch->npages * PAGE);
    mock_memory_free(batch->data, limit * PAGE);
    batch->data = data;
}

static void batch_end(struct mock_object *object, struct batch *batch, bool flush)
{
    batch_trim(batch, object->batch);
    batch_send(object, batch, flush);
}

static bool page_returned(const struct page *page, memory_object_return_t should_return)
{
    return (page->dirty && should_return != MEMORY_OBJECT_RETURN_NONE) ||
           (page->precious && should_return == MEMORY_OBJECT_RETURN_ALL);
}

/* Whether the page I must not join BATCH, which then has to be sent first. */
static bool batch_ends(const struct mock_object *object, const struct batch *batch, size_t i,
                       memory_object_return_t should_return)
{
    const struct page *page = &object->pages[i];

    if (batch->npages == 0)
        return false;
    if (!page->resident || page->busy)
        return page->busy;
    return batch->npages == object->batch || !page_returned(page, should_return) ||
           batch->first + batch->npages != i || batch->dirty != page->dirty;
}

static void lock_page(struct mock_object *object, struct batch *batch, size_t i,
                      memory_object_return_t should_return, bool flush, vm_prot_t prot)
{
    struct page *page = &object->pages[i];

    for (;;) { /* the world has changed after each of these */
        if (batch_ends(object, batch, i, should_return))
            batch_end(object, batch, flush);
        else if (page->busy)
            changed_wait();
        else
            break;
    }
    mock_check(!page->error); /* the kernel's assertion */
    if (!page->resident)
        return;
    if (prot != VM_PROT_NO_CHANGE) {
        page->lock = prot;
        page->unlocking = false;
        page_protect(object, i);
    }
    if (page_returned(page, should_return))
        batch_add(object, batch, i, flush);
    else if (flush)
        page_clear(object, i);
    changed_signal();
}

static void lock_pages(struct mock_object *object, vm_offset_t offset, vm_size_t size,
                       memory_object_return_t should_return, bool flush, vm_prot_t prot)
{
    struct batch batch = {.npages = 0};
    size_t end = (offset + size + PAGE - 1) / PAGE;

    for (size_t i = offset / PAGE; i < end && i < object->npages && !object->destroyed; i++) {
        lock_page(object, &batch, i, should_return, flush, prot);
        if (jitter) {
            leave();
            sched_yield();
            enter();
        }
    }
    batch_end(object, &batch, flush);
}

kern_return_t memory_object_lock_request(mach_port_t control, vm_offset_t offset, vm_size_t size,
                                         memory_object_return_t should_return, boolean_t flush,
                                         vm_prot_t prot, mach_port_t reply_to)
{
    struct mock_object *object;

    enter();
    object = object_lookup(control);
    if (object != NULL) {
        object->npaging++;
        lock_pages(object, offset, size, should_return, flush != FALSE, prot);
        if (reply_to != MACH_PORT_NULL && !object->destroyed)
            message_send(object, (struct mock_delivery){
                                     .id = MOCK_LOCK_COMPLETED, .offset = offset, .length = size});
        object->npaging--;
        changed_signal();
    }
    nlocks++;
    leave();
    return object == NULL ? MACH_SEND_INVALID_DEST : KERN_SUCCESS;
}
