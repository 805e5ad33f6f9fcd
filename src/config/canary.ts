import { z } from 'zod'
import { defaultService, type ServiceName } from '../core/evidence.ts'
import type { EnvironmentReader } from './environment.ts'
import { isLoopback } from './environment-settings.ts'
import { duration } from './yaml-file.ts'

export const canarySection = z
  .strictObject({
    /** The one whose scheme and secret sign the canary. */
    service: z.string().default(defaultService),
    url: z
      .url({ protocol: /^https?$/, error: 'must be an address of the form http:// or https://' })
      .refine(hasNoPassword, 'must not contain a user or a password'),
    every: duration.refine((ms) => ms >= 5000, 'must be at least 5s').prefault('1m'),
    timeout: duration.refine((ms) => ms > 0 && ms <= 30_000, 'must be at most 30s').prefault('10s'),
  })
  .nullable()
  .default(null)

export type CanarySettings = { service: ServiceName; url: string; everyMs: number; timeoutMs: number }

/** Null if the canary is off. */
export function readCanary(
  reader: EnvironmentReader,
  canary: z.output<typeof canarySection>,
  services: readonly { name: ServiceName; webhooks: { signing: { scheme: string } } }[],
): CanarySettings | null {
  if (canary === null) return null
  const refuse = (fault: string) => void reader.faults.push(`DEPOSITD_CONFIG, canary${fault}`)
  const signer = services.find(({ name }) => name === canary.service)
  if (signer === undefined) {
    refuse(`.service: knows no service ${canary.service}; use ${services.map(({ name }) => name).join(', ')}`)
    return null
  }
  const { scheme } = signer.webhooks.signing
  if (scheme === 'public-key')
    refuse(': only the sender holds the private key of the scheme public-key, so depositd cannot sign')
  if (wouldShowSecret(scheme, canary.url))
    refuse('.url: must be https://, because the scheme shared-secret sends the secret itself')
  return { service: signer.name, url: canary.url, everyMs: canary.every, timeoutMs: canary.timeout }
}

export function wouldShowSecret(scheme: string, address: string): boolean {
  const { protocol, hostname } = new URL(address)
  return scheme === 'shared-secret' && protocol !== 'https:' && !isLoopback(hostname)
}

function hasNoPassword(text: string): boolean {
  const { username = '', password = '' } = URL.parse(text) ?? {}
  return username === '' && password === ''
}
