# SPDX-License-Identifier: GPL-2.0-or-later
"""Who holds which lock, since where, and who waits for it: by what librt keeps book of."""
from machbed import image, threads
from machbed.command import command

LOCKS = ("RT_WAIT_MUTEX", "RT_WAIT_READ", "RT_WAIT_WRITE")


def print_waiters(waiters, lock):
    for thread in waiters:
        if thread.wait() in LOCKS and int(thread.data["wait"]["object"]) == lock:
            print("    %s: %s" % (thread.label(), thread.phrase()))


def print_locks(server):
    found = threads.threads_of(server)
    count = 0
    for thread in found:
        for held in thread.held():
            lock = int(held["object"])
            count += 1
            print("%s: holds %s (%#x)%s, taken at %s" %
                  (thread.label(), thread.lock_name(held), lock,
                   " as a reader" if held["shared"] else "", thread.taken_at(held)))
            print_waiters(found, lock)
    if count == 0:
        print("%s: no lock is held" % server.name)


@command("locks")
def locks(*names):
    """machbed locks [SERVER...]: the locks that are held, with who waits for each."""
    for server in image.chosen(names):
        print_locks(server)
