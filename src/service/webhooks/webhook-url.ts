import { isIP } from 'node:net'
import { isPublicAddress } from './public-address.ts'

const lengthMax = 2000

/**
 * Why the service does not call this address; null where it does. An address with a name and password in it would
 * put them in front of everyone who may list the endpoints.
 */
export function findUrlFault(text: string): string | null {
  if (text.length > lengthMax) return `must have at most ${lengthMax} characters`
  if (!URL.canParse(text)) return 'must be a whole http or https address'
  const { protocol, username, password, hash } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') return 'must be a whole http or https address'
  if (username !== '' || password !== '') return 'must not hold a name or password'
  return hash === '' ? null : 'must not hold a fragment'
}

/** One spelling of each address, so that none is registered twice. */
export function urlForm(text: string): string {
  return new URL(text).href
}

/** Whether the address alone tells that it is not public. What a name means is seen when it is called. */
export function isPrivateUrl(url: string): boolean {
  // An IPv6 address has brackets in a URL.
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) !== 0) return !isPublicAddress(host)
  return /(?:^|\.)(?:localhost|local|internal)\.?$/.test(host)
}
