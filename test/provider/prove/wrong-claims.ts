import type { Asset } from '../../../src/core/asset.ts'
import type { Claim } from '../../../src/core/evidence.ts'
import { writeProfile } from '../../../src/provider/infer/write-profile.ts'
import { parseProfile } from '../../../src/provider/profile/parse-profile.ts'
import type { ProvedProfile } from '../../../src/provider/prove/prove-profile.ts'
import { createClaimReader } from '../../../src/provider/read-claim.ts'
import { creditAsset } from '../infer/lives.ts'
import type { Shape } from './render-shape.ts'
import type { MadeDeposit } from './shapes.ts'

/**
 * Claims that the daemon would read wrongly, of deposits that were not among the samples. What it cannot read is
 * reported, and not wrong.
 */
export function wrongClaims({ world, recordOf }: Shape, proved: ProvedProfile): string[] {
  const { profile, faults } = parseProfile(writeProfile(proved, []))
  if (profile === null) return faults
  const read = createClaimReader(profile, { networks: world.networks, creditAsset })
  return world.others.flatMap((deposit) =>
    deposit.steps.flatMap(({ meaning }, step) => {
      const body = Buffer.from(JSON.stringify(recordOf(deposit, step)))
      const reading = read({ source: 'api', body, receivedAt: new Date() })
      if (reading.kind !== 'claim') return []
      const [found, truth] = [said(reading.claim, deposit), meant(deposit, meaning)]
      return found === truth ? [] : [`read ${found}, meant ${truth}`]
    }),
  )
}

function said({ status, deposit, settlement }: Claim, { delivery }: MadeDeposit): string {
  const { network, address, asset, amount } = deposit
  const isStated = delivery !== null && status === 'settled'
  const out = isStated
    ? [settlement?.network, settlement?.address, settlement?.asset, settlement?.amount]
    : []
  return [status, network, address, asset, amount, ...out].join(' ')
}

function meant({ payment, delivery, asset }: MadeDeposit, status: string): string {
  const isStated = delivery !== null && status === 'settled'
  const out = isStated ? legOf(delivery.transfer, delivery.asset) : []
  return [status, ...legOf(payment, asset), ...out].join(' ')
}

function legOf({ to, amount }: MadeDeposit['payment'], { network, key }: Asset): unknown[] {
  return [network, to, key, amount]
}
