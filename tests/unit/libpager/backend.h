// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The server behind the pagers under test: a disk in memory that can be made to fail, to do less
 * than it is asked, to lack bulk writes, and to wait. Plus what all tests of libpager set up.
 */
#ifndef LIBPAGER_TESTS_BACKEND_H
#define LIBPAGER_TESTS_BACKEND_H

#include <pthread.h>

#include "libpager/pager.h"
#include "mock/kernel.h"

#define PAGE ((vm_size_t)4096)

struct user_pager_info {
    struct pager *pager;
    struct port_bucket *bucket;
    vm_size_t size; /* bytes; the disk has whole pages */
    size_t npages;

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    uint64_t *disk; /* words */
    bool *has;      /* one a page: it was written once */

    /* How it behaves. */
    bool no_bulk;          /* pager_write_pages says EOPNOTSUPP */
    bool zero_progress;    /* pager_write_pages does nothing and says 0 */
    vm_size_t bulk_most;   /* bytes that one bulk call writes at most; 0: all */
    bool hold_writes;      /* writes wait */
    size_t nsteps;         /* so many go on all the same */
    bool hold_reads;       /* reads wait */
    bool hold_evicts;      /* notices of eviction wait */
    bool write_lock;       /* pages are supplied write-locked */
    error_t read_error;    /* of every read */
    error_t unlock_error;  /* of every pager_unlock_page */
    error_t *bad;          /* one a page: what writing it gives */
    unsigned int nwriters; /* so many writes at a time are right (backend_set_writers) */

    /* An object of a lower level, of as many pages: each write of a page changes the same page
       there, each read reads it. */
    struct mock_object *below;

    /* What happened. */
    size_t nbulk; /* calls that wrote something or everything */
    size_t nsingle;
    size_t nfailed; /* single pages whose write failed */
    size_t nreads;
    size_t nunlocks;
    size_t nevicted;
    size_t nwaiting_writes; /* held just now */
    size_t nwrites;         /* ended, of either kind */
    size_t npages_written;  /* or tried to be */
    size_t nwaiting_reads;
    vm_size_t bulk_largest; /* bytes */
    vm_size_t bulk_last;
    unsigned int nwriting; /* writes under way */
    bool *busy;            /* one a page: one of them writes it */
    bool cleared;          /* pager_clear_user_data was called */
};

/* A level of its own, with NWORKERS workers, for the pagers of a test. */
struct port_bucket *backend_bucket(unsigned int nworkers);

/* A server of NPAGES pages with a pager on BUCKET. */
struct user_pager_info *backend_create(struct port_bucket *bucket, size_t npages, bool notify);

/* Shut its pager down, wait until it is gone, and check that nothing was left behind: no memory, no
   rights. OBJECT, its mapping, ends too; it may be null. */
void backend_destroy(struct user_pager_info *upi, struct mock_object *object);

/* Change UPI's behaviour under its lock: backend_set(upi, hold_writes, true). */
#define backend_set(upi, member, value)                                                            \
    (pthread_mutex_lock(&(upi)->lock), (upi)->member = (value),                                    \
     pthread_cond_broadcast(&(upi)->changed), pthread_mutex_unlock(&(upi)->lock))

/* A member of UPI, read under its lock. */
#define backend_get(upi, member)                                                                   \
    ({                                                                                             \
        pthread_mutex_lock(&(upi)->lock);                                                          \
        typeof((upi)->member) backend_value = (upi)->member;                                       \
        pthread_mutex_unlock(&(upi)->lock);                                                        \
        backend_value;                                                                             \
    })

/* Wait until UPI's MEMBER is at least VALUE. */
#define backend_await(upi, member, value)                                                          \
    do {                                                                                           \
        pthread_mutex_lock(&(upi)->lock);                                                          \
        while ((upi)->member < (value))                                                            \
            pthread_cond_wait(&(upi)->changed, &(upi)->lock);                                      \
        pthread_mutex_unlock(&(upi)->lock);                                                        \
    } while (0)

/* The value of a page on the disk; all of the page must have it. 0 for one never written. */
uint64_t backend_value(struct user_pager_info *upi, size_t page);

void backend_set_value(struct user_pager_info *upi, size_t page, uint64_t value);

void backend_set_bad(struct user_pager_info *upi, size_t page, error_t error);

/* Let COUNT writes go on although writes are held, and wait until they have ended. */
void backend_step_writes(struct user_pager_info *upi, size_t count);

/* The object ends before page NPAGES from now on, as a file does that is truncated or extended:
   what is behind it is dropped from memory, is not written any more, and is not there when it grows
   again.
   => the pages behind both ends are nobody's while this goes on. */
void backend_resize(struct user_pager_info *upi, size_t npages);

/* Allow NWRITERS writes at a time. => nothing is being written. */
void backend_set_writers(struct user_pager_info *upi, unsigned int nwriters);

/* Use the policy called NAME. */
void backend_policy(const char *name);

#endif
