import { z } from 'zod'
import type { WebhookDelivery } from '../signature/scheme.ts'

/** One JSON document, or one per line; `headers` may be text or lists of text, `received_at` is ISO 8601; `path` includes the query. */
export function parseCaptures(text: string): { captures: WebhookDelivery[]; faults: string[] } {
  const captures: WebhookDelivery[] = []
  const faults: string[] = []
  for (const [line, document] of documentsIn(text)) {
    const result = capture.safeParse(document)
    if (result.success) captures.push(result.data)
    else faults.push(`line ${line}: ${result.error.issues.map(describe).join('; ')}`)
  }
  return { captures, faults }
}

/** Null if a document is not JSON. */
function documentsIn(text: string): [number, unknown][] {
  const whole = parseJson(text)
  if (whole !== null) return [[1, whole]]
  return text
    .split('\n')
    .map((line, place): [number, string] => [place + 1, line])
    .filter(([, line]) => line.trim() !== '')
    .map(([number, line]) => [number, parseJson(line)])
}

const headerValue = z.union([z.string(), z.array(z.string()).transform((values) => values.join(', '))], {
  error: 'is no text and no list of texts',
})

const capture = z
  .object(
    {
      headers: z.record(z.string(), headerValue),
      body: z.string().optional(),
      body_base64: z.base64({ error: 'is no base64' }).optional(),
      method: z.string().optional(),
      path: z.string().startsWith('/', 'is no path like /webhooks/transfers?a=1').optional(),
      received_at: z.iso.datetime({ offset: true, error: 'is no time like 2026-11-20T10:00:00Z' }),
    },
    { error: 'is no JSON object' },
  )
  .refine((one) => (one.body === undefined) !== (one.body_base64 === undefined), {
    error: 'give either body or body_base64',
  })
  .transform(
    (one): WebhookDelivery => ({
      headers: Object.fromEntries(
        Object.entries(one.headers).map(([name, value]) => [name.toLowerCase(), value]),
      ),
      body: one.body === undefined ? Buffer.from(one.body_base64 ?? '', 'base64') : Buffer.from(one.body),
      receivedAt: new Date(one.received_at),
      ...(one.method !== undefined && { method: one.method }),
      ...(one.path !== undefined && { path: one.path }),
    }),
  )

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}

function describe({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`
}
