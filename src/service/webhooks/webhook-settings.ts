import { isWebhookSecret } from './signing-key.ts'
import { findUrlFault, isPrivateUrl, urlForm } from './webhook-url.ts'

/** `secret` is in the Standard Webhooks format: base64 after `whsec_`, or after `whsk_` for ed25519. */
export type WebhookEndpoint = { url: string; secret: string }

export type ServiceWebhookSettings = {
  /** Endpoints in addition to those registered through the API. */
  webhooks: readonly WebhookEndpoint[]
  /**
   * Whether webhooks may go to private addresses. If others than the operator can register endpoints, this lets them
   * reach the operator's internal network.
   */
  allowPrivateWebhooks: boolean
}

/** Reports webhooks by their position, because a rejected URL may contain a password. */
export function findWebhookFaults({ webhooks, allowPrivateWebhooks }: ServiceWebhookSettings): string[] {
  const urls = webhooks.map(({ url }) => url).filter((url) => findUrlFault(url) === null)
  return [
    ...webhooks.flatMap((webhook, place) => endpointFaults(webhook, place + 1)),
    ...(new Set(urls.map(urlForm)).size === urls.length ? [] : ['a webhook is named twice']),
    ...(allowPrivateWebhooks || !urls.some(isPrivateUrl)
      ? []
      : ['the address of a webhook is private, and allowPrivateWebhooks is off']),
  ]
}

function endpointFaults({ url, secret }: WebhookEndpoint, number: number): string[] {
  const urlFault = findUrlFault(url)
  return [
    ...(urlFault === null ? [] : [`the address of webhook ${number} ${urlFault}`]),
    ...(isWebhookSecret(secret)
      ? []
      : [`the secret of webhook ${number} is not whsec_ or whsk_ and base64 of the right length`]),
  ]
}
