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
  problem: AllocationProblem<Taker, Source>,
): Shares<Taker, Source> | null {
  const allocation = new Allocation(problem)
  for (const isWhole of [true, false])
    for (const taker of problem.takers) allocation.giveInOrder(taker, isWhole)
  return problem.takers.every((taker) => allocation.feed(taker)) ? allocation.shares() : null
}

/** A taker gets an amount of a source from another taker, or, if `from` is null, from what is left of the source. */
type AllocationStep<Taker, Source> = { taker: Taker; source: Source; from: Taker | null }

class Allocation<Taker, Source> {
  readonly #problem: AllocationProblem<Taker, Source>
  readonly #given: ReadonlyMap<Source, Map<Taker, bigint>>
  readonly #need: Map<Taker, bigint>
  readonly #left: Map<Source, bigint>

  constructor(problem: AllocationProblem<Taker, Source>) {
    const { takers, sources, wants, holds } = problem
    this.#problem = problem
    this.#given = new Map(sources.map((source) => [source, new Map()]))
    this.#need = new Map(takers.map((taker) => [taker, wants(taker)]))
    this.#left = new Map(sources.map((source) => [source, holds(source)]))
  }

  giveInOrder(taker: Taker, isWhole: boolean): void {
    for (const source of this.#problem.sourcesOf(taker)) {
      const [need, left] = [amountOf(this.#need, taker), amountOf(this.#left, source)]
      const isUntouched = this.#given.get(source)?.size === 0
      const isGiven = isWhole ? isUntouched && need === left : need > 0n && left > 0n
      if (!isGiven) continue
      this.#move({ taker, source, from: null }, lesser(need, left))
      if (isWhole) return
    }
  }

  /** Takes from sources that other takers have shares of and can do without. */
  feed(taker: Taker): boolean {
    while (amountOf(this.#need, taker) > 0n) {
      const path = this.#pathTo(taker)
      if (path === null) return false
      const available = path.map(({ source, from }) =>
        from === null ? amountOf(this.#left, source) : this.#shareOf(from, source),
      )
      const amount = available.reduce(lesser, amountOf(this.#need, taker))
      for (const step of path) this.#move(step, amount)
    }
    return true
  }

  /** The sources of each taker in its own order. */
  shares(): Shares<Taker, Source> {
    const { takers, sourcesOf } = this.#problem
    const partsOf = (taker: Taker) => sourcesOf(taker).filter((source) => this.#given.get(source)?.has(taker))
    return new Map(
      takers.map((taker) => [
        taker,
        new Map(partsOf(taker).map((source) => [source, this.#shareOf(taker, source)])),
      ]),
    )
  }

  /** The shortest chain of takers that each give up a share for the next source, ending at one with something left. */
  #pathTo(first: Taker): AllocationStep<Taker, Source>[] | null {
    const seen = new Set<Source>()
    const steps = new Map<Taker, AllocationStep<Taker, Source> | null>([[first, null]])
    for (const taker of steps.keys()) {
      for (const source of this.#problem.sourcesOf(taker).filter((one) => !seen.has(one))) {
        if (amountOf(this.#left, source) > 0n) return pathOf({ taker, source, from: null }, steps)
        seen.add(source)
        const holders = [...(this.#given.get(source) ?? [])].filter(
          ([from, share]) => share > 0n && !steps.has(from),
        )
        for (const [from] of holders) steps.set(from, { taker, source, from })
      }
    }
    return null
  }

  #move({ taker, source, from }: AllocationStep<Taker, Source>, amount: bigint): void {
    if (from === null) this.#left.set(source, amountOf(this.#left, source) - amount)
    else this.#give(from, source, -amount)
    this.#give(taker, source, amount)
  }

  #give(taker: Taker, source: Source, amount: bigint): void {
    const shares = this.#given.get(source)
    const share = this.#shareOf(taker, source) + amount
    if (amount < 0n && share === 0n) shares?.delete(taker)
    else shares?.set(taker, share)
    this.#need.set(taker, amountOf(this.#need, taker) - amount)
  }

  #shareOf(taker: Taker, source: Source): bigint {
    return this.#given.get(source)?.get(taker) ?? 0n
  }
}

function pathOf<Taker, Source>(
  last: AllocationStep<Taker, Source>,
  steps: ReadonlyMap<Taker, AllocationStep<Taker, Source> | null>,
): AllocationStep<Taker, Source>[] {
  const path = [last]
  for (let step = steps.get(last.taker); step; step = steps.get(step.taker)) path.push(step)
  return path
}

function amountOf<Key>(amounts: ReadonlyMap<Key, bigint>, key: Key): bigint {
  return amounts.get(key) ?? 0n
}

function lesser(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}
