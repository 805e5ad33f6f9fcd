import { isWebhookSecret } from './signing-key.ts'
import { findUrlFault, isPrivateUrl, urlForm } from './webhook-url.ts'

/** `secret` is in the Standard Webhooks form: base64 behind `whsec_`, or behind `whsk_` for ed25519. */
export type WebhookEndpoint = { url: string; secret: string }

export type ServiceWebhookSettings = {
  /** Endpoints beside those that are registered by the API. */
  webhooks: readonly WebhookEndpoint[]
  /**
   * Whether webhooks may go to addresses that are not of the public internet. Where others than the operator may
   * register endpoints, this lets them reach the operator's own network.
   */
  allowPrivateWebhooks: boolean
}

/** Webhooks are named by their place: an address can hold a password, if only to be refused. */
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
