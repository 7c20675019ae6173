// SPDX-License-Identifier: MPL-2.0
// Tells ThreadSanitizer what it cannot see: how GLib, GStreamer and Swift's standard library order
// the accesses of threads. They are not instrumented, so their locks and counters are nothing to it.
//
// `scripts/sanitize thread` preloads this. Each function below stands before the library's own of
// the same name and says to ThreadSanitizer what that does: what was before a release comes before
// what is behind the acquire of the same address that sees it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gst/gst.h>
#include <stdint.h>

// Absent from the programs that tests start, which are not instrumented.
extern __attribute__((weak)) void __tsan_acquire(void *address);
extern __attribute__((weak)) void __tsan_release(void *address);

// Neither are the functions of GStreamer that this calls.
#pragma weak _gst_buffer_type
#pragma weak gst_buffer_get_meta
#pragma weak gst_parent_buffer_meta_api_get_type

static inline void acquire(void *address) {
  if (__tsan_acquire) __tsan_acquire(address);
}

static inline void release(void *address) {
  if (__tsan_release) __tsan_release(address);
}

// The library's own function, looked up once; which of several threads does so is no matter.
#define NEXT(name, symbol)                             \
  ({                                                   \
    static void *next;                                 \
    void *found = __atomic_load_n(&next, __ATOMIC_RELAXED); \
    if (!found) {                                      \
      found = dlsym(RTLD_NEXT, symbol);                \
      __atomic_store_n(&next, found, __ATOMIC_RELAXED); \
    }                                                  \
    (__typeof__(&name))found;                          \
  })
#define REAL(name) NEXT(name, #name)

// MARK: Locks

#define LOCK(name, Type)                                                      \
  void name(Type *lock) {                                                     \
    REAL(name)(lock);                                                         \
    acquire(lock);                                                     \
  }
#define UNLOCK(name, Type)                                                    \
  void name(Type *lock) {                                                     \
    release(lock);                                                     \
    REAL(name)(lock);                                                         \
  }
#define TRY(name, Type)                                                       \
  gboolean name(Type *lock) {                                                 \
    gboolean locked = REAL(name)(lock);                                       \
    if (locked) acquire(lock);                                         \
    return locked;                                                            \
  }

LOCK(g_mutex_lock, GMutex)
UNLOCK(g_mutex_unlock, GMutex)
TRY(g_mutex_trylock, GMutex)
LOCK(g_rec_mutex_lock, GRecMutex)
UNLOCK(g_rec_mutex_unlock, GRecMutex)
TRY(g_rec_mutex_trylock, GRecMutex)
LOCK(g_rw_lock_reader_lock, GRWLock)
UNLOCK(g_rw_lock_reader_unlock, GRWLock)
TRY(g_rw_lock_reader_trylock, GRWLock)
LOCK(g_rw_lock_writer_lock, GRWLock)
UNLOCK(g_rw_lock_writer_unlock, GRWLock)
TRY(g_rw_lock_writer_trylock, GRWLock)

// A wait gives the lock up and gets it back.
void g_cond_wait(GCond *condition, GMutex *lock) {
  release(lock);
  REAL(g_cond_wait)(condition, lock);
  acquire(lock);
}

gboolean g_cond_wait_until(GCond *condition, GMutex *lock, gint64 end) {
  release(lock);
  gboolean signalled = REAL(g_cond_wait_until)(condition, lock, end);
  acquire(lock);
  return signalled;
}

// MARK: What is done once

gboolean(g_once_init_enter)(volatile void *location) {
  gboolean first = REAL(g_once_init_enter)(location);
  if (!first) acquire((void *)location);
  return first;
}

void(g_once_init_leave)(volatile void *location, gsize result) {
  release((void *)location);
  REAL(g_once_init_leave)(location, result);
}

// MARK: Reference counts
//
// Giving a reference up comes before whoever gives up the last one, which frees the object. An object
// that nobody else holds may be written to, so asking whether that is so acquires.

// The last reference of a buffer that shows a part of another gives that one up, too, which goes
// back to its pool: within GStreamer, where it is not seen.

static void release_parent(GstMiniObject *object) {
  if (GST_MINI_OBJECT_TYPE(object) != GST_TYPE_BUFFER) return;
  GstParentBufferMeta *parent = gst_buffer_get_parent_buffer_meta((GstBuffer *)object);
  if (parent) release(parent->buffer);
}

GstFlowReturn gst_buffer_pool_acquire_buffer(GstBufferPool *pool, GstBuffer **buffer,
                                             GstBufferPoolAcquireParams *params) {
  GstFlowReturn flow = REAL(gst_buffer_pool_acquire_buffer)(pool, buffer, params);
  if (flow == GST_FLOW_OK) acquire(*buffer);
  return flow;
}

void gst_mini_object_unref(GstMiniObject *object) {
  release_parent(object);
  release(object);
  if (__atomic_load_n(&object->refcount, __ATOMIC_RELAXED) == 1) acquire(object);
  REAL(gst_mini_object_unref)(object);
}

gboolean gst_mini_object_is_writable(const GstMiniObject *object) {
  gboolean writable = REAL(gst_mini_object_is_writable)(object);
  if (writable) acquire((void *)object);
  return writable;
}

GstMiniObject *gst_mini_object_make_writable(GstMiniObject *object) {
  acquire(object);
  return REAL(gst_mini_object_make_writable)(object);
}

static void give_up(void *object) {
  release(object);
  if (__atomic_load_n(&((GObject *)object)->ref_count, __ATOMIC_RELAXED) == 1)
    acquire(object);
}

void gst_object_unref(gpointer object) {
  give_up(object);
  REAL(gst_object_unref)(object);
}

void g_object_unref(gpointer object) {
  give_up(object);
  REAL(g_object_unref)(object);
}

// MARK: Hand-overs

// A queue's lock lies inside GLib.
void g_async_queue_push(GAsyncQueue *queue, gpointer data) {
  release(queue);
  REAL(g_async_queue_push)(queue, data);
}

gpointer g_async_queue_pop(GAsyncQueue *queue) {
  gpointer data = REAL(g_async_queue_pop)(queue);
  acquire(queue);
  return data;
}

gpointer g_async_queue_try_pop(GAsyncQueue *queue) {
  gpointer data = REAL(g_async_queue_try_pop)(queue);
  acquire(queue);
  return data;
}

gpointer g_async_queue_timeout_pop(GAsyncQueue *queue, guint64 timeout) {
  gpointer data = REAL(g_async_queue_timeout_pop)(queue, timeout);
  acquire(queue);
  return data;
}

void gst_atomic_queue_push(GstAtomicQueue *queue, gpointer data) {
  release(queue);
  REAL(gst_atomic_queue_push)(queue, data);
}

gpointer gst_atomic_queue_pop(GstAtomicQueue *queue) {
  gpointer data = REAL(gst_atomic_queue_pop)(queue);
  acquire(queue);
  return data;
}

// What is called in a thread of GStreamer's comes after what was before the call.
typedef struct {
  GstElementCallAsyncFunc function;
  gpointer data;
  GDestroyNotify notify;
} AsyncCall;

static void run_call(GstElement *element, gpointer data) {
  AsyncCall *call = data;
  acquire(call);
  call->function(element, call->data);
  release(call);
}

static void end_call(gpointer data) {
  AsyncCall *call = data;
  acquire(call);
  if (call->notify) call->notify(call->data);
  g_free(call);
}

void gst_element_call_async(
    GstElement *element, GstElementCallAsyncFunc function, gpointer data, GDestroyNotify notify) {
  AsyncCall *call = g_new(AsyncCall, 1);
  *call = (AsyncCall){function, data, notify};
  release(call);
  REAL(gst_element_call_async)(element, run_call, call, end_call);
}

// MARK: Swift
//
// The quick path of Swift's Mutex is compiled into whoever uses it, and is seen; the slow one, with
// which the kernel hands the lock from thread to thread, is not.

#define SWIFT_SELF __attribute__((swift_context)) void *self
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

__attribute__((swiftcall)) void mutex_lock_slow(uint32_t thread, SWIFT_SELF) __asm__(LOCK_SLOW);
__attribute__((swiftcall)) void mutex_unlock_slow(SWIFT_SELF) __asm__(UNLOCK_SLOW);

__attribute__((swiftcall)) void mutex_lock_slow(uint32_t thread, SWIFT_SELF) {
  NEXT(mutex_lock_slow, LOCK_SLOW)(thread, self);
  acquire(self);
}

__attribute__((swiftcall)) void mutex_unlock_slow(SWIFT_SELF) {
  release(self);
  NEXT(mutex_unlock_slow, UNLOCK_SLOW)(self);
}
