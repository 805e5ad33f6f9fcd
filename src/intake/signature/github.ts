import type { GithubSettings, HmacSettings } from './scheme.ts'

/**
 * `sha256=…` over the body. Neither an id nor a time is signed, so only the body identifies a replay. Source:
 * docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries.
 */
export function github({ header }: GithubSettings): HmacSettings {
  return {
    scheme: 'hmac',
    header,
    prefix: 'sha256=',
    algorithm: 'sha256',
    encoding: 'hex',
    key: 'utf8',
    template: '{body}',
    tolerance: 0,
  }
}
