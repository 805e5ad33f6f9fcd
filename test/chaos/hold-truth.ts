import { contradictionsIn, reportContradictions, type WorldFacts } from '../oracle/hold.ts'

/** @throws where the oracle finds that an invariant does not hold */
export async function holdTruth(facts: WorldFacts): Promise<void> {
  const found = await contradictionsIn(facts)
  if (found.length > 0) throw new Error(reportContradictions(found))
}
