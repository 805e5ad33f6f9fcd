import { isIPv4, isIPv6 } from 'node:net'
import { z } from 'zod'

const network = z.string().refine(isNetwork, 'is no address, nor a network like 10.0.0.0/8 or fd00::/8')

/** Limits for unauthenticated clients of the webhook endpoint. */
export const intakeSection = z
  .strictObject({
    /** Proxies whose `X-Forwarded-For` is trusted. */
    trustedProxies: z.array(network).default([]),
    /** Concurrent connections of one client; trusted proxies have no such limit. */
    connectionsPerSource: z.int().min(1).max(4096).default(1024),
    quarantine: z
      .strictObject({
        rows: z.int().min(0).max(1_000_000).default(10_000),
        megabytes: z.int().min(0).max(10_000).default(64),
      })
      .prefault({}),
  })
  .prefault({})

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const bitsMax = isIPv4(address) ? 32 : isIPv6(address) ? 128 : -1
  if (bitsMax < 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax)
}
