/**
 * Coalesces runs: at most one per id at a time. All callers during a run share the next one. It starts after their
 * call, so it sees everything they wrote before.
 */
export function coalesceRuns(): (id: string, run: () => Promise<void>) => Promise<void> {
  const current = new Map<string, Promise<void>>()
  const following = new Map<string, Promise<void>>()

  function start(id: string, run: () => Promise<void>): Promise<void> {
    const started = run().finally(() => current.delete(id))
    current.set(id, started)
    return started
  }

  return (id, run) => {
    const active = current.get(id)
    if (active === undefined) return start(id, run)
    const waiting = following.get(id)
    if (waiting !== undefined) return waiting
    const next = active
      .catch(() => undefined)
      .then(() => {
        following.delete(id)
        return start(id, run)
      })
    following.set(id, next)
    return next
  }
}
