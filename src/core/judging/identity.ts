import type { Dossier } from '../matching/divide.ts'
import type { Mismatch } from '../mismatch.ts'
import { contradiction } from './contradiction.ts'
import type { Leg } from './matrix.ts'
import { otherNetworkOf } from './other-network.ts'

/** What is said about which transfer is which deposit's and where it is, and cannot be so. */
export function findIdentityDifferences(dossier: Dossier): Mismatch[] {
  return [
    networkDiffers(dossier, 'deposit') ?? networkDiffers(dossier, 'settlement'),
    transactionReused(dossier),
    matchAmbiguous(dossier),
  ].filter((mismatch) => mismatch !== null)
}

function networkDiffers(dossier: Dossier, leg: Leg): Mismatch | null {
  const found = otherNetworkOf(dossier, leg)
  if (found === null) return null
  const { tx, ...named } = found
  return contradiction('network_mismatch', named, { leg, ...(tx === null ? {} : { transaction: tx }) })
}

function transactionReused({ reuse }: Dossier): Mismatch | null {
  return reuse && { kind: 'tx_reused', detail: { transfer: reuse.transfer, deposit: reuse.serviceId } }
}

function matchAmbiguous({ ambiguity }: Dossier): Mismatch | null {
  if (ambiguity === null) return null
  const { stated, delivered, deposits, transfers } = ambiguity
  return {
    kind: 'ambiguous_match',
    detail: {
      stated: stated?.toString() ?? 'not of all deposits',
      delivered: delivered.toString(),
      deposits: listed(deposits),
      transfers: listed(transfers),
    },
  }
}

const listedMax = 10

function listed(all: readonly string[]): string {
  const more = all.length - listedMax
  const shown = all.slice(0, listedMax).join(', ')
  return more > 0 ? `${shown} and ${more} more` : shown
}
