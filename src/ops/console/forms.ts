import { createHash } from 'node:crypto'
import express, { type Request, type RequestHandler } from 'express'
import { attachmentBytesMax } from '../../core/attachment.ts'
import { Fault } from '../../core/errors.ts'
import type { UploadedFile } from '../../store/mismatches/attachments.ts'

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

/** One file with the fields around it. */
const uploadBytesMax = attachmentBytesMax + 64 * 1024

/**
 * Reads a form with a file; its fields are then those of the request.
 * @returns null if no file was chosen
 * @throws Fault `request_refused` before more than the limit is read
 */
export async function readUpload(request: Request): Promise<UploadedFile | null> {
  const type = request.headers['content-type'] ?? ''
  if (!type.startsWith('multipart/form-data')) throw refused('the form has no file', 400)
  // The length is stated, so that a body that is too large is refused unread.
  const stated = Number(request.headers['content-length'] ?? Infinity)
  if (!(stated <= uploadBytesMax)) throw refused('the file is larger than 5 MB', 413)
  const body = await readUpTo(request, stated)
  const form = await formIn(body, type)
  const file = form.get('file')
  request.body = Object.fromEntries([...form].filter(([, value]) => typeof value === 'string'))
  if (file === null || typeof file === 'string' || file.name === '') return null
  return { name: file.name, content: Buffer.from(await file.arrayBuffer()) }
}

async function readUpTo(request: Request, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bytesMax) throw refused('the file is larger than 5 MB', 413)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function formIn(body: Buffer, type: string): Promise<FormData> {
  try {
    return await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
  } catch {
    throw refused('the form cannot be read', 400)
  }
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
