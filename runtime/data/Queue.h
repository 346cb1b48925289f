// A queue of bounded length between two stages: a fast producer waits, and a closed
// queue lets everybody go.

#ifndef DLC_RUNTIME_DATA_QUEUE_H
#define DLC_RUNTIME_DATA_QUEUE_H

#include <condition_variable>
#include <mutex>
#include <vector>

namespace dlc::data {

template <typename Item> class Queue {
public:
  explicit Queue(size_t capacity) : items(capacity) {}

  /// False if the queue is closed; the item is lost then.
  bool push(Item item) {
    std::unique_lock lock(mutex);
    roomMade.wait(lock, [&] { return closed || count < items.size(); });
    if (closed)
      return false;
    items[(first + count++) % items.size()] = std::move(item);
    lock.unlock();
    itemAdded.notify_one();
    return true;
  }

  /// False once the queue is closed and empty.
  bool pop(Item &item) {
    std::unique_lock lock(mutex);
    itemAdded.wait(lock, [&] { return closed || count > 0; });
    if (count == 0)
      return false;
    item = std::move(items[first]);
    first = (first + 1) % items.size();
    --count;
    lock.unlock();
    roomMade.notify_one();
    return true;
  }

  void close() {
    {
      std::lock_guard lock(mutex);
      closed = true;
    }
    roomMade.notify_all();
    itemAdded.notify_all();
  }

private:
  std::mutex mutex;
  std::condition_variable roomMade, itemAdded;
  std::vector<Item> items; // a ring
  size_t first = 0, count = 0;
  bool closed = false;
};

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_QUEUE_H
