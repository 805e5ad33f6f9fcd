import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { isPublicAddress } from './public-address.ts'

export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** Looks a name up for a connection, and fails where it means any host that is not public. */
export function openPublicLookup(resolve: Resolve = lookup): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const [first] = found ?? []
      if (error !== null) return done(error, [])
      if (first === undefined || !found.every(({ address }) => isPublicAddress(address))) {
        return done(Object.assign(new Error('not a public address'), { code: 'ERR_ADDRESS_REFUSED' }), [])
      }
      return options.all === true ? done(null, found) : done(null, first.address, first.family)
    })
  }
}
