import { expect, test } from 'vitest'
import type { Observation, ServiceId } from '../../../src/core/evidence.ts'
import { divide } from '../../../src/core/matching/divide.ts'
import type { Amount } from '../../../src/core/money.ts'
import { at, channelApproval, claim, delivery, payment, txId, webhook } from '../../support/evidence.ts'

/** How often a field of the evidence is read while it is divided. */
function readsOf(observations: readonly Observation[]): number {
  let reads = 0
  const counted = observations.map(
    (one) =>
      new Proxy(one, {
        get(target, name) {
          reads++
          return Reflect.get(target, name)
        },
      }),
  )
  divide(counted, [channelApproval])
  return reads
}

const floods: [string, (size: number) => Observation[]][] = [
  [
    'copies of one webhook',
    (size) => [payment(), ...numbers(size).map((place) => webhook({ receivedAt: at(5 + place) }))],
  ],
  [
    'revisions of one record',
    (size) => [
      payment(),
      ...numbers(size).map((place) =>
        claim({ occurredAt: at(place), deposit: { amount: BigInt(place) as Amount } }),
      ),
    ],
  ],
  [
    'readings of one payment',
    (size) => [claim(), ...numbers(size).map((epoch) => payment({ epoch, receivedAt: at(epoch) }))],
  ],
  [
    'deposits in one delivery',
    (size) => [
      delivery({ amount: (99_900_000n * BigInt(size)) as Amount }),
      ...numbers(size).flatMap((place) => {
        const tx = txId(`p${place}`)
        return [payment({ tx }), claim({ serviceId: `dep_${place}` as ServiceId, deposit: { tx } })]
      }),
    ],
  ],
]

test.each(floods)('of %s, ten times as many are not much more than ten times the work', (_what, flood) => {
  expect(readsOf(flood(2000))).toBeLessThan(13 * readsOf(flood(200)))
})

function numbers(size: number): number[] {
  return [...Array(size).keys()]
}
