import { createHash, timingSafeEqual } from 'node:crypto'
import type { Request, RequestHandler } from 'express'

/** Whether who asks knows the token; everybody does where there is none. */
export type Recognises = (request: Request) => boolean

/**
 * As `Authorization: Bearer TOKEN`, or as the password of HTTP Basic, which a browser asks for. Digests are compared, so
 * that neither the time it takes nor the length tells anything of the token.
 */
export function createRecognition(token: string | null): Recognises {
  if (token === null) return () => true
  const wanted = digestOf(token)
  return ({ headers }) => {
    const told = credentialOf(headers.authorization ?? '')
    return told !== null && timingSafeEqual(digestOf(told), wanted)
  }
}

function credentialOf(header: string): string | null {
  const [, scheme = '', text = ''] = /^(bearer|basic) +(\S+)$/i.exec(header) ?? []
  if (scheme === '') return null
  if (scheme.toLowerCase() === 'bearer') return text
  const [, password] = /^[^:]*:(.*)$/s.exec(Buffer.from(text, 'base64').toString()) ?? []
  return password ?? null
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

export function refuseStrangers(recognises: Recognises): RequestHandler {
  return (request, response, next) => {
    if (recognises(request)) return next()
    response
      .status(401)
      .set({ 'WWW-Authenticate': 'Basic realm="depositd", charset="UTF-8"', 'Cache-Control': 'no-store' })
      .type('text/plain')
      .send('the token of OPS_TOKEN is asked for: as Bearer, or as the password of any user\n')
  }
}
