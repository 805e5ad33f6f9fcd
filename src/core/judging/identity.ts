import type { Dossier } from '../matching/divide.ts'
import type { Mismatch } from '../mismatch.ts'

/** What the service says about which transfer is which deposit's, and cannot be so. */
export function findIdentityDifferences(dossier: Dossier): Mismatch[] {
  return [networkDiffers(dossier), transactionReused(dossier), matchAmbiguous(dossier)].filter(
    (mismatch) => mismatch !== null,
  )
}

function networkDiffers({ otherNetworks }: Dossier): Mismatch | null {
  const [first] = otherNetworks
  if (first === undefined) return null
  const { leg, tx, stated, shown } = first
  return { kind: 'network_mismatch', detail: { leg, transaction: tx, stated, chain: shown } }
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
