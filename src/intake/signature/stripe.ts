import type { HmacSettings, StripeSettings } from './scheme.ts'

/**
 * `t=…,v1=…` in one header, over `timestamp.body`. The secret is used as it is, including `whsec_`. Source:
 * docs.stripe.com/webhooks/signatures.
 */
export function stripe({ header, tolerance }: StripeSettings): HmacSettings {
  return {
    scheme: 'hmac',
    header,
    field: 'v1',
    prefix: '',
    algorithm: 'sha256',
    encoding: 'hex',
    key: 'utf8',
    template: '{timestamp}.{body}',
    timestamp: { header, field: 't', unit: 's' },
    tolerance,
  }
}
