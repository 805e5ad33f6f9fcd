import { sql } from 'kysely'
import type { ServiceDatabase } from './tables.ts'

/** Branches of the seed that nobody has yet. */
export type Branches = {
  take(): Promise<number>
  /** One that was taken, and that nobody has been given. */
  giveBack(branch: number): void
}

const blockSize = 64

/**
 * Takes branches from the database in blocks, so that one query serves many. What is left of a block when the process
 * ends is never handed out: branches are plenty, and no two processes ever have the same.
 */
export function openBranches(db: ServiceDatabase): Branches {
  const spare: number[] = []
  let filling: Promise<void> | null = null
  const fill = async (): Promise<void> => {
    const { rows } = await sql<{ branch: number }>`
      select nextval('service.branch')::integer as branch from generate_series(1, ${blockSize}::integer)`.execute(
      db,
    )
    spare.push(...rows.map(({ branch }) => branch))
  }
  const take = async (): Promise<number> => {
    const branch = spare.shift()
    if (branch !== undefined) return branch
    filling ??= fill().finally(() => {
      filling = null
    })
    await filling
    return take()
  }
  return { take, giveBack: (branch) => spare.unshift(branch) }
}
