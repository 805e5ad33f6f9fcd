export type AllocationProblem<Taker, Source> = {
  takers: readonly Taker[]
  sources: readonly Source[]
  wants: (taker: Taker) => bigint
  holds: (source: Source) => bigint
  sourcesOf: (taker: Taker) => readonly Source[]
}

export type Shares<Taker, Source> = ReadonlyMap<Taker, ReadonlyMap<Source, bigint>>

/**
 * A taker that wants exactly what a source holds gets that source; the rest is given in the order of the takers. If
 * that leaves a taker short, shares are passed on. The same order gives the same shares.
 * @returns null if no division gives every taker all that it wants
 */
export function allocate<Taker, Source>(
  sharing: AllocationProblem<Taker, Source>,
): Shares<Taker, Source> | null {
  const state = begin(sharing)
  for (const isWhole of [true, false]) {
    for (const taker of sharing.takers) giveInOrder(state, taker, isWhole)
  }
  const isFed = sharing.takers.every((taker) => feed(state, taker))
  return isFed ? state.given : null
}

type AllocationState<Taker, Source> = AllocationProblem<Taker, Source> & {
  given: Map<Taker, Map<Source, bigint>>
  takersOf: Map<Source, Set<Taker>>
  need: Map<Taker, bigint>
  left: Map<Source, bigint>
}

function begin<Taker, Source>(sharing: AllocationProblem<Taker, Source>): AllocationState<Taker, Source> {
  const { takers, sources, wants, holds } = sharing
  return {
    ...sharing,
    given: new Map(takers.map((taker) => [taker, new Map()])),
    takersOf: new Map(sources.map((source) => [source, new Set()])),
    need: new Map(takers.map((taker) => [taker, wants(taker)])),
    left: new Map(sources.map((source) => [source, holds(source)])),
  }
}

function giveInOrder<Taker, Source>(
  state: AllocationState<Taker, Source>,
  taker: Taker,
  isWhole: boolean,
): void {
  for (const source of state.sourcesOf(taker)) {
    const [need, left] = [amountOf(state.need, taker), amountOf(state.left, source)]
    const isUntouched = amountOf(state.need, taker) === state.wants(taker) && left === state.holds(source)
    const isGiven = isWhole ? isUntouched && need === left && !isTaken(state, source) : need > 0n && left > 0n
    if (!isGiven) continue
    give(state, { taker, source, amount: need < left ? need : left })
    if (isWhole) return
  }
}

/** Takes from sources that other takers have shares of and can do without. */
function feed<Taker, Source>(state: AllocationState<Taker, Source>, taker: Taker): boolean {
  while (amountOf(state.need, taker) > 0n) {
    const path = findPath(state, taker)
    if (path === null) return false
    const amounts = path.map(({ source, from }) =>
      from === null ? amountOf(state.left, source) : shareOf(state, from, source),
    )
    const amount = [amountOf(state.need, taker), ...amounts].reduce((a, b) => (a < b ? a : b))
    for (const { taker: to, source, from } of path) {
      if (from !== null) take(state, { taker: from, source, amount })
      give(state, { taker: to, source, amount })
    }
  }
  return true
}

/** `from` is null for what is left of the source. */
type AllocationStep<Taker, Source> = { taker: Taker; source: Source; from: Taker | null }

/** `step` takes the taker's share; null where the search began. */
type AllocationPathNode<Taker, Source> = {
  taker: Taker
  by: { step: AllocationStep<Taker, Source>; before: AllocationPathNode<Taker, Source> } | null
}

/** The shortest chain of takers that each give up a share for the next source, ending at one with something left. */
function findPath<Taker, Source>(
  state: AllocationState<Taker, Source>,
  first: Taker,
): AllocationStep<Taker, Source>[] | null {
  const seen = new Set<Source>()
  const reached = new Set([first])
  const arrivals: AllocationPathNode<Taker, Source>[] = [{ taker: first, by: null }]
  for (const arrival of arrivals) {
    const { taker } = arrival
    for (const source of state.sourcesOf(taker).filter((one) => !seen.has(one))) {
      if (amountOf(state.left, source) > 0n) return [...pathTo(arrival), { taker, source, from: null }]
      seen.add(source)
      const holders = [...(state.takersOf.get(source) ?? [])].filter(
        (from) => !reached.has(from) && shareOf(state, from, source) > 0n,
      )
      for (const from of holders) {
        reached.add(from)
        arrivals.push({ taker: from, by: { step: { taker, source, from }, before: arrival } })
      }
    }
  }
  return null
}

function pathTo<Taker, Source>(arrival: AllocationPathNode<Taker, Source>): AllocationStep<Taker, Source>[] {
  const steps: AllocationStep<Taker, Source>[] = []
  for (let { by } = arrival; by !== null; { by } = by.before) steps.push(by.step)
  return steps.toReversed()
}

type AllocationShare<Taker, Source> = { taker: Taker; source: Source; amount: bigint }

function give<Taker, Source>(
  state: AllocationState<Taker, Source>,
  { taker, source, amount }: AllocationShare<Taker, Source>,
): void {
  state.given.get(taker)?.set(source, shareOf(state, taker, source) + amount)
  state.takersOf.get(source)?.add(taker)
  state.need.set(taker, amountOf(state.need, taker) - amount)
  state.left.set(source, amountOf(state.left, source) - amount)
}

function take<Taker, Source>(
  state: AllocationState<Taker, Source>,
  { taker, source, amount }: AllocationShare<Taker, Source>,
): void {
  const rest = shareOf(state, taker, source) - amount
  if (rest > 0n) state.given.get(taker)?.set(source, rest)
  else state.given.get(taker)?.delete(source)
  state.need.set(taker, amountOf(state.need, taker) + amount)
  state.left.set(source, amountOf(state.left, source) + amount)
}

function isTaken<Taker, Source>({ takersOf }: AllocationState<Taker, Source>, source: Source): boolean {
  return (takersOf.get(source)?.size ?? 0) > 0
}

function shareOf<Taker, Source>(
  { given }: AllocationState<Taker, Source>,
  taker: Taker,
  source: Source,
): bigint {
  return given.get(taker)?.get(source) ?? 0n
}

function amountOf<Key>(amounts: ReadonlyMap<Key, bigint>, key: Key): bigint {
  return amounts.get(key) ?? 0n
}
