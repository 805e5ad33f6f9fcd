import { isIP } from 'node:net'
import { isPublicAddress } from './public-address.ts'

const lengthMax = 2000

/**
 * Why a URL is rejected; null if it is accepted. A URL with credentials would show them to everyone who may list the
 * endpoints.
 */
export function findUrlFault(text: string): string | null {
  if (text.length > lengthMax) return `must have at most ${lengthMax} characters`
  if (!URL.canParse(text)) return 'must be a whole http or https address'
  const { protocol, username, password, hash } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') return 'must be a whole http or https address'
  if (username !== '' || password !== '') return 'must not hold a name or password'
  return hash === '' ? null : 'must not hold a fragment'
}

/** The canonical form of a URL, so that no endpoint is registered twice. */
export function urlForm(text: string): string {
  return new URL(text).href
}

/** Whether the URL alone shows a private address. Names are checked when they are resolved for a connection. */
export function isPrivateUrl(url: string): boolean {
  // IPv6 addresses have brackets in a URL.
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) !== 0) return !isPublicAddress(host)
  return /(?:^|\.)(?:localhost|local|internal)\.?$/.test(host)
}
