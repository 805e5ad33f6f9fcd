import type { Settings } from '../config/settings.ts'
import { Fault } from '../core/errors.ts'

/** A shorter secret also occurs in unrelated texts. */
const secretLengthMin = 8

/**
 * A bundle is made without any secret of ours, but an external sender may have put one into a payload.
 * @throws Fault `usage_bad` if the document contains a secret; it names the setting, and never its value
 */
export function refuseSecrets(document: string, settings: Settings): void {
  const bodies = [...document.matchAll(/"body": "([^"]+)"/g)].map(([, body = '']) =>
    Buffer.from(body, 'base64').toString(),
  )
  const texts = [document, ...bodies]
  const held = secretsOf(settings).find(
    ({ text }) =>
      text.length >= secretLengthMin &&
      texts.some((one) => one.includes(text) || one.includes(JSON.stringify(text).slice(1, -1))),
  )
  if (held === undefined) return
  throw new Fault('usage_bad', {
    problem: `a payload of this deposit holds the value of ${held.name}`,
    fix: 'replace that secret, since who sent the payload knows it; then make the bundle again',
  })
}

function secretsOf({ service, webhooks, networks, databaseUrl, queueUrl }: Settings) {
  return [
    { name: 'SERVICE_API_KEY', text: service.apiKey },
    ...webhooks.keys.secrets.map(({ text }) => ({ name: 'WEBHOOK_SECRETS', text })),
    ...networks.flatMap(({ name, rpcUrls }) =>
      rpcUrls.map((text) => ({ name: `RPC_${name.toUpperCase()}`, text })),
    ),
    { name: 'DATABASE_URL', text: databaseUrl },
    { name: 'QUEUE_URL', text: queueUrl },
  ]
}
