import { createHash } from 'node:crypto'
import express, { type Request, type RequestHandler } from 'express'
import { Fault } from '../../core/errors.ts'

/** Held by the browser for this host alone, and sent with no form of another site. */
export const sessionCookie = '__Host-depositd'

export const cookieOptions = { path: '/', secure: true, httpOnly: true, sameSite: 'lax' } as const

export function tokenOf({ headers }: Pick<Request, 'headers'>): string | null {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='))
  const [, token = ''] = pairs.find(([name]) => name === sessionCookie) ?? []
  return token === '' ? null : token
}

export const readForm: RequestHandler = express.urlencoded({ extended: false, limit: '2mb' })

export function fieldOf(request: Request, name: string): string {
  const body = request.body as Record<string, unknown> | undefined
  const value = body?.[name]
  return typeof value === 'string' ? value.trim() : ''
}

/** Bound to what the browser holds, so that no other site can send a form. */
export function formTokenOf(token: string): string {
  return createHash('sha256').update(`form ${token}`).digest('base64url')
}

/** @throws Fault `request_refused` unless a page that this browser opened sent the form */
export function checkForm(request: Request): void {
  const token = tokenOf(request)
  const site = request.headers['sec-fetch-site'] ?? 'same-origin'
  if (token !== null && fieldOf(request, 'form') === formTokenOf(token) && site === 'same-origin') return
  throw refused('this form is not of a page that you opened: load the page again, and send it from there')
}

export function refused(problem: string, status = 403): Fault<'request_refused'> {
  return new Fault('request_refused', { status, reason: 'form_refused', problem })
}
