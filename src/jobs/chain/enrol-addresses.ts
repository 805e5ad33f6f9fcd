import type { OnDemandReader, ScanResult } from '../../chain/port.ts'
import type { Address } from '../../core/asset.ts'
import type { Enrolment, WatchEntry } from '../../store/chain/chain-watch.ts'

/** Clocks differ, and a service makes an address before the book has it. */
const createdMarginMs = 600_000

/** No transfer is in the genesis block. */
const firstHeight = 1n

type Newcomers = {
  book: readonly WatchEntry[]
  /** Where the settings say that reading of this network begins. */
  startHeight: bigint | null
  /** What the network's very first scan read; null for all others. */
  first: ScanResult | null
}

/**
 * Which addresses reading has not taken up yet, and from where on they are wanted: from the beginning of the first scan,
 * or from where the oldest of them was made, never below what the settings say.
 */
export async function planEnrolment(
  reader: Pick<OnDemandReader, 'heightAt'>,
  { book, startHeight, first }: Newcomers,
): Promise<Enrolment> {
  const fresh = book.filter((entry) => entry.number === null)
  const addresses = [...new Set(fresh.map(({ address }) => address))]
  const lowest = startHeight === null || startHeight < firstHeight ? firstHeight : startHeight
  if (first !== null) return enrolAt(addresses, firstRead(first, startHeight === null ? null : lowest))
  if (addresses.length === 0) return enrolAt(addresses, lowest)
  const oldest = fresh.reduce((least, { createdAt }) => Math.min(least, createdAt.getTime()), Infinity)
  const height = (await reader.heightAt(new Date(oldest - createdMarginMs))) ?? lowest
  return enrolAt(addresses, height < lowest ? lowest : height)
}

function enrolAt(addresses: readonly Address[], fromHeight: bigint): Enrolment {
  return { addresses, fromHeight }
}

/** Without a setting the first scan begins above what is final then. */
function firstRead({ cursor }: ScanResult, lowest: bigint | null): bigint {
  const above = cursor.final.height + 1n
  return lowest === null || lowest > above ? above : lowest
}
