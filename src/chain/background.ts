import { AsyncLocalStorage } from 'node:async_hooks'

/** `requests`: JSON-RPC calls to all nodes, repeated ones included. */
export type BackgroundWork = { requests: number }

const current = new AsyncLocalStorage<BackgroundWork>()

/**
 * Every request to a node inside gives way to others, and keeps to the rate for background work. The context passes
 * through all readers, so that each of their requests counts, however deep it is sent.
 */
export async function inBackground<Result>(
  read: () => Promise<Result>,
): Promise<{ result: Result; requests: number }> {
  const work: BackgroundWork = { requests: 0 }
  const result = await current.run(work, read)
  return { result, requests: work.requests }
}

/** Null outside of it. */
export function backgroundWork(): BackgroundWork | null {
  return current.getStore() ?? null
}
