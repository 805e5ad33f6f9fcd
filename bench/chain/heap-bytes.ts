/** What is on the heap after a collection, where `gc` is offered. */
export function heapBytes(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
