import { isLoopback } from '../core/loopback.ts'
import type { EnvironmentReader } from './environment.ts'

/** Where metrics, health and the console are shown. */
export type OpsListening = {
  host: string
  port: number
  /** Who asks for more than whether it is alive has to know it; null on loopback only, where nobody else reaches it. */
  token: string | null
}

const tokenLengthMin = 16

export function readOps(reader: EnvironmentReader): OpsListening {
  const host = reader.text('OPS_HOST', '127.0.0.1')
  const token = reader.optional('OPS_TOKEN') ?? null
  if (token === null && host !== '' && !isLoopback(host))
    reader.faults.push(
      `OPS_TOKEN is missing, and OPS_HOST is ${host}: set OPS_TOKEN_FILE to a file with a secret (openssl rand -hex 24), or OPS_HOST to 127.0.0.1`,
    )
  if (token !== null && token !== '') reader.faults.push(...tokenFaults(token))
  return { host, port: reader.port('OPS_PORT', 9464), token }
}

function tokenFaults(token: string): string[] {
  // A header of a browser or of a scrape cannot carry anything else.
  if (!/^[\x21-\x7e]+$/.test(token))
    return ['OPS_TOKEN holds something else than printable ASCII without blanks']
  const isShort = token.length < tokenLengthMin
  return isShort ? [`OPS_TOKEN has less than ${tokenLengthMin} characters: it could be guessed`] : []
}
