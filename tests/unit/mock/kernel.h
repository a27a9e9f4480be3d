// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A kernel of the host's own that speaks the memory-object protocol to libpager, and is strict
 * where the real one would be silent: a send right that is dropped twice, memory that is released
 * twice or in pieces, a message to a name that was given up, end the test at once. Names of ports
 * are reused as soon as they are free, so that a stale one hits somebody else's port.
 *
 * It does what GNU Mach does (vm/memory_object.c, vm/vm_pageout.c): a lock request collects dirty
 * neighbours, or clean precious ones, into messages of at most 32 pages; without a flush it copies
 * each page and marks it clean before the message is sent, and it must not meet a page that got an
 * error before the client has run that asked for it; pageout and the object's end return single
 * pages; messages never wait for the receiver.
 */
#ifndef MOCK_KERNEL_H
#define MOCK_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "librt/mach.h"
#include "librt/ports.h"

#define MOCK_BATCH 32 /* pages of a message: the kernel's DATA_WRITE_MAX */

struct mock_object; /* a kernel's end of a memory object */

/* Map the memory object that PORT stands for, NPAGES long: the kernel sends memory_object_init.
   A second mapping of a mapped object is another kernel's. */
struct mock_object *mock_map(mach_port_t port, size_t npages);

/* The last mapping goes: what is dirty or precious is returned, then the object is terminated. */
void mock_unmap(struct mock_object *object);

/* Let messages of lock requests have up to NPAGES pages. */
void mock_set_batch(struct mock_object *object, size_t npages);

/*
 * What a client does. A page holds one value, in each of its words.
 * => block until the page is there; KERN_MEMORY_ERROR is a fault of the client.
 */
kern_return_t mock_write(struct mock_object *object, size_t page, uint64_t value);
kern_return_t mock_read(struct mock_object *object, size_t page, uint64_t *value);

/* Ask for a page as a fault does, without waiting for it. */
void mock_touch(struct mock_object *object, size_t page);

/* Whether a page has been asked for, and there was no answer; or wait until it has been. */
bool mock_wanted(struct mock_object *object, size_t page);
void mock_await_wanted(struct mock_object *object, size_t page);

/* Wait until a page that was asked for has got an error, which no client has taken note of. */
void mock_await_failed(struct mock_object *object, size_t page);

/* Wait until a page is not there. */
void mock_await_absent(struct mock_object *object, size_t page);

/* Make pages resident and dirty without asking the pager for them: VALUE, VALUE + 1, ... */
void mock_fill(struct mock_object *object, size_t page, size_t npages, uint64_t value);

/* Evict a page as the pageout daemon does. False when it is not there. */
bool mock_pageout(struct mock_object *object, size_t page);

/* Where the messages about OBJECT go. */
struct port_bucket *mock_bucket(const struct mock_object *object);

bool mock_resident(struct mock_object *object, size_t page);
bool mock_dirty(struct mock_object *object, size_t page);
bool mock_precious(struct mock_object *object, size_t page);
bool mock_failed(struct mock_object *object, size_t page);
bool mock_destroyed(struct mock_object *object);
boolean_t mock_may_cache(struct mock_object *object);
memory_object_copy_strategy_t mock_copy_strategy(struct mock_object *object);

/* Send a data_return as it is, with fresh memory of LENGTH bytes; VALUE in each page. */
void mock_send_return(struct mock_object *object, vm_offset_t offset, vm_size_t length,
                      uint64_t value, boolean_t dirty, boolean_t kernel_copy);

/* Send requests as they are. */
void mock_send_request(struct mock_object *object, vm_offset_t offset, vm_size_t length);
void mock_send_unlock(struct mock_object *object, vm_offset_t offset, vm_size_t length);

/* How many pages vm_statistics says are free, beside MOCK_PAGES that are in use; MOCK_FREE until
   said otherwise. */
#define MOCK_PAGES 100000
#define MOCK_FREE  100000
void mock_set_free(int npages);

/* Have vm_allocate fail. */
void mock_set_no_room(bool on);

/* Have lock requests give up the processor between pages. */
void mock_set_jitter(bool on);

/* Hold lock requests when they have collected the pages of a message, marked clean already, and
   have not sent it; or let them go on. */
void mock_hold_batches(bool hold);

/* Wait until COUNT lock requests are held. */
void mock_await_held(size_t count);

/* Hold pages that are supplied on their way to the kernel; or let them arrive. Wait until there is
   one. */
void mock_hold_supplies(bool hold);
void mock_await_supply(void);

/* Hold back what is sent to BUCKET's ports, or let it go again. */
void mock_receiver_hold(struct port_bucket *bucket, bool hold);

/* Wait until the receiver has handled all messages, which is not to say that workers have done what
   they were about; or ask whether it has. */
void mock_receiver_wait(struct port_bucket *bucket);
bool mock_receiver_is_idle(struct port_bucket *bucket);

/* receive.c: wait until all that was sent to BUCKET's pagers has been dealt with, and all that came
   of it: nothing is left to be read or written. => nothing is held. */
void mock_pagers_wait(struct port_bucket *bucket);

/* Messages that wait in the ports of BUCKET. */
size_t mock_queued(struct port_bucket *bucket);

/* Bytes of vm_allocate and of messages that nobody has released; rights to kernels' ports that the
   task holds. */
size_t mock_memory(void);
size_t mock_rights(void);

/* What comes into memory next lies side by side, NPAGES pages of it; 0: no longer. */
void mock_memory_adjacent(size_t npages);

/* How many times vm_move was called. */
size_t mock_nmoves(void);

/* How many messages pages were supplied in; and whether the kernel confirms that (it does). */
size_t mock_nsupplies(void);
void mock_set_confirming(bool on);

/* Ports for confirmations of memory_object_data_supply (libpager/private.h). */
mach_port_t mock_confirm_create(void);
void mock_confirm_destroy(mach_port_t port);
bool mock_confirm_receive(mach_port_t port);

/* A send right of the task's is moved to a client; a client drops one of the port that the task
   calls NAME. */
void mock_right_give(mach_port_t name);
void mock_right_drop(mach_port_t name);

/* How many lock requests were done, and pages supplied. */
size_t mock_nlocks(void);
size_t mock_nsupplied(void);

enum mock_id {
    MOCK_INIT,
    MOCK_TERMINATE,
    MOCK_DATA_REQUEST,
    MOCK_DATA_UNLOCK,
    MOCK_LOCK_COMPLETED,
    MOCK_CHANGE_COMPLETED,
    MOCK_DATA_RETURN,
    MOCK_NO_SENDERS,
};

/* A message as it is received: its rights and memory are the task's. */
struct mock_delivery {
    enum mock_id id;
    mach_port_t object;
    mach_port_t control;
    mach_port_t name;
    vm_offset_t offset;
    vm_size_t length;
    vm_address_t data;
    vm_prot_t access;
    boolean_t dirty;
    boolean_t kernel_copy;
};

/* For a receiver: wait for the next message of BUCKET. What came before it has been handled. */
void mock_receive(struct port_bucket *bucket, struct mock_delivery *delivery);

/* The same if a message is there; else false, and what came before may not be handled yet. */
bool mock_receive_queued(struct port_bucket *bucket, struct mock_delivery *delivery);

#endif
