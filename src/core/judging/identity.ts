import type { DepositEvidence } from '../matching/divide.ts'
import type { Mismatch } from '../mismatch.ts'
import { contradiction } from './contradiction.ts'
import { claimedOf, sharedLack } from './losses.ts'
import type { DepositLeg } from './matrix.ts'
import { otherNetworkOf } from './other-network.ts'

/** What is said about which transfer is which deposit's and where it is, and cannot be so. */
export function findIdentityDifferences(dossier: DepositEvidence): Mismatch[] {
  return [
    networkDiffers(dossier, 'deposit') ?? networkDiffers(dossier, 'settlement'),
    transactionReused(dossier),
    matchAmbiguous(dossier),
  ].filter((mismatch) => mismatch !== null)
}

function networkDiffers(dossier: DepositEvidence, leg: DepositLeg): Mismatch | null {
  const found = otherNetworkOf(dossier, leg)
  if (found === null) return null
  const { tx, ...named } = found
  return contradiction('network_mismatch', named, {
    about: { leg, ...(tx === null ? {} : { transaction: tx }) },
  })
}

function transactionReused(dossier: DepositEvidence): Mismatch | null {
  const { reuse } = dossier
  if (reuse === null) return null
  const detail = { transfer: reuse.transfer, deposit: reuse.serviceId }
  return { kind: 'tx_reused', detail, loss: claimedOf(dossier) }
}

function matchAmbiguous(dossier: DepositEvidence): Mismatch | null {
  const { ambiguity } = dossier
  if (ambiguity === null) return null
  const { stated, delivered, asset, deposits, transfers } = ambiguity
  return {
    kind: 'ambiguous_match',
    detail: {
      stated: stated?.toString() ?? 'not of all deposits',
      delivered: delivered.toString(),
      deposits: listed(deposits),
      transfers: listed(transfers),
      ...(asset !== null && { asset }),
    },
    loss: sharedLack(dossier),
  }
}

const listedMax = 10

function listed(all: readonly string[]): string {
  const more = all.length - listedMax
  const shown = all.slice(0, listedMax).join(', ')
  return more > 0 ? `${shown} and ${more} more` : shown
}
