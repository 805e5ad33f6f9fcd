import type { Asset, AssetKey } from '../core/asset.ts'
import { Fault, isFault } from '../core/errors.ts'

/**
 * A node that does not answer is skipped as long as another does: it is checked before its first read.
 * @throws Fault `remote_failed` if no node answers; other errors at once
 */
export async function askEach<Node, Answer>(
  nodes: readonly Node[],
  ask: (node: Node) => Promise<Answer>,
): Promise<Answer[]> {
  const outcomes = await Promise.allSettled(nodes.map(ask))
  const failures = outcomes.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []))
  const bug = failures.find((failure) => !isFault(failure, 'remote_failed'))
  if (bug !== undefined) throw bug
  if (failures.length === nodes.length) throw failures[0]
  return outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
}

/** @throws Fault `settings_bad` with all problems found; `remote_failed` as `askEach` */
export async function requireIdentity<Node>(
  nodes: readonly Node[],
  faultsOf: (node: Node) => Promise<readonly string[]>,
): Promise<void> {
  const faults = (await askEach(nodes, faultsOf)).flat()
  if (faults.length > 0) throw new Fault('settings_bad', { faults })
}

/** `decimalsOf`: null if there is no token. */
export async function decimalsFaults(
  assets: readonly Asset[],
  node: string,
  decimalsOf: (keys: readonly AssetKey[]) => Promise<readonly (number | null)[]>,
): Promise<string[]> {
  const found = await decimalsOf(assets.map(({ key }) => key))
  return assets.flatMap(({ key, symbol, decimals }, index) =>
    found[index] === decimals
      ? []
      : [
          `asset ${symbol} (${key}): expected decimals ${decimals}, found ${found[index] ?? 'no token'} (${node})`,
        ],
  )
}
