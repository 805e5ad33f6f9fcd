import { isIP } from 'node:net'
import { createSecureContext } from 'node:tls'
import { messageOf } from '../../core/errors.ts'
import type { RateLimit } from '../../http/token-buckets.ts'

/** PEM. */
export type TlsSettings = { cert: string; key: string }

/** Limits against slow callers and too many connections. */
export type ConnectionLimits = {
  /** Until the headers are complete, and until a TLS handshake is complete. */
  headersMs: number
  /** Until the body is complete. */
  requestMs: number
  /** Until an idle connection is closed. */
  idleMs: number
  connectionsMax: number
}

export type ApiServerSettings = {
  /** 0 picks a free port. */
  port: number
  /** The listen address; loopback by default. */
  host?: string
  /** With a certificate and its key, the server speaks only HTTPS. */
  tls?: TlsSettings
  /** Per key. */
  rateLimit?: RateLimit
  limits?: Partial<ConnectionLimits>
}

export const loopback = '127.0.0.1'

export const connectionLimits: ConnectionLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  idleMs: 60_000,
  connectionsMax: 1000,
}

/** Every problem of the settings, without any content of the private key. */
export function findServerFaults({ host = loopback, tls, rateLimit, limits }: ApiServerSettings): string[] {
  const counts = Object.entries({ ...connectionLimits, ...limits })
  return [
    ...(isIP(host) === 0 ? [`host ${host} is not an IP address`] : []),
    ...(tls === undefined ? [] : certificateFaults(tls)),
    ...Object.entries(rateLimit ?? {})
      .filter(([, value]) => !(Number.isFinite(value) && value > 0))
      .map(([name]) => `rateLimit.${name} is not above 0`),
    ...(rateLimit !== undefined && rateLimit.burst < 1 ? ['rateLimit.burst allows no request'] : []),
    ...counts
      .filter(([, value]) => !(Number.isInteger(value) && value > 0))
      .map(([name]) => `limits.${name} is not a whole number above 0`),
  ]
}

/** True if API keys and deposits would cross a network unencrypted. */
export function isExposed({ host = loopback, tls }: ApiServerSettings): boolean {
  return tls === undefined && !/^(?:127\.|::1$)/.test(host)
}

function certificateFaults(tls: TlsSettings): string[] {
  try {
    createSecureContext(tls)
    return []
  } catch (error) {
    return [`tls is not a certificate and its key in PEM: ${messageOf(error).slice(0, 100)}`]
  }
}
