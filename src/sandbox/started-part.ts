/** A component that started: its address, and how long it took. */
export type StartedPart = { part: string; address: string; milliseconds: number }

export type OnPart = (part: StartedPart) => void

/** Starts a component and reports it when it is up. */
export async function timed<Part>(
  onPart: OnPart,
  name: string,
  start: () => Promise<{ part: Part; address: string }>,
): Promise<Part> {
  const startedAt = performance.now()
  const { part, address } = await start()
  onPart({ part: name, address, milliseconds: Math.round(performance.now() - startedAt) })
  return part
}
