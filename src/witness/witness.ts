import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import express from 'express'
import type { Logger } from 'pino'
import { type HttpServer, startHttpServer } from '../http/server.ts'
import { serverLimits } from '../http/server-limits.ts'
import {
  cosign,
  isSignedBy,
  type NoteKey,
  type NoteSigner,
  readCheckpoint,
  type SignedCheckpoint,
} from '../ledger/checkpoint.ts'
import { isConsistent } from '../ledger/merkle-tree.ts'
import { logEvent } from '../log/log-event.ts'

/** A checkpoint with a proof and sixteen signatures is shorter. */
const bodyMax = 64 * 1024

/** `POST /add-checkpoint` of c2sp.org/tlog-witness, and `GET /checkpoints`: the newest confirmed one of each log. */
export function serveWitness(
  settings: WitnessSettings & { host: string; port: number; log: Logger },
): Promise<HttpServer> {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.post(
    '/add-checkpoint',
    express.raw({ limit: bodyMax, type: () => true, inflate: false }),
    (request, response) => {
      const body = Buffer.isBuffer(request.body) ? request.body.toString() : ''
      const { status, text, type = 'text/plain', refusal } = addCheckpoint(settings, body)
      if (refusal !== undefined) logEvent(settings.log, 'witness_refused', refusal)
      response.status(status).setHeader('content-type', type).end(text)
    },
  )
  app.get('/checkpoints', (_request, response) => {
    const texts = settings.logs.map(({ name }) => newestText(settings.folder, name) ?? '')
    response.set('content-type', 'text/plain; charset=utf-8').end(texts.join(''))
  })
  const limits = { ...serverLimits, connectionsMax: 256, connectionsPerSourceMax: 128 }
  return startHttpServer(app, { host: settings.host, port: settings.port, limits, drainMs: 5000 })
}

export type WitnessSettings = {
  /** Keys of the logs that it watches; the name of a key is the origin of its log. */
  logs: readonly NoteKey[]
  signer: NoteSigner
  /** Holds the newest confirmed checkpoint of each log. */
  folder: string
  now: () => Date
}

/** `refusal` says why a checkpoint of a known log contradicts what was confirmed. */
export type WitnessAnswer = {
  status: number
  text: string
  type?: string
  refusal?: { origin: string; reason: string }
}

const requestForm = /^old (?<old>0|[1-9]\d{0,14})\n(?<proof>(?:[A-Za-z0-9+/]{43}=\n){0,63})\n(?<note>[^]*)$/

/** Answers `add-checkpoint` of c2sp.org/tlog-witness. Runs to its end before the next call, so that none overtakes it. */
function addCheckpoint(settings: WitnessSettings, request: string): WitnessAnswer {
  const { old = '', proof = '', note = '' } = requestForm.exec(request)?.groups ?? {}
  const checkpoint = readCheckpoint(note)
  if (checkpoint === null) return { status: 400, text: 'not an old size, a proof and a checkpoint\n' }
  const keys = settings.logs.filter(({ name }) => name === checkpoint.origin)
  if (keys.length === 0) return { status: 404, text: 'this log is not watched here\n' }
  if (!keys.some((key) => isSignedBy(checkpoint, key)))
    return { status: 403, text: 'not signed by a key of this log\n' }
  const hashes = proof.split('\n').slice(0, -1)
  return compare(settings, checkpoint, {
    old: Number(old),
    proof: hashes.map((hash) => Buffer.from(hash, 'base64')),
  })
}

function compare(
  settings: WitnessSettings,
  checkpoint: SignedCheckpoint,
  { old, proof }: { old: number; proof: readonly Buffer[] },
): WitnessAnswer {
  const { origin, size } = checkpoint
  if (old > size) return { status: 400, text: 'the old size is greater than that of the checkpoint\n' }
  const confirmed = newestConfirmed(settings.folder, origin)
  const known = confirmed ?? { size: 0, root: Buffer.of() }
  const refuse = (reason: string) => ({ refusal: { origin, reason } })
  if (known.size !== old) {
    const conflict = { status: 409, text: `${known.size}\n`, type: 'text/x.tlog.size' }
    return size < known.size
      ? { ...conflict, ...refuse(`the log has ${size} rows, and had ${known.size}`) }
      : conflict
  }
  if (!isConsistent(known, checkpoint, proof)) {
    const status = size === known.size && proof.length === 0 ? 409 : 422
    return {
      status,
      text: 'it does not continue the confirmed log\n',
      ...refuse(`another log of ${size} rows, confirmed were ${known.size}`),
    }
  }
  const line = cosign(checkpoint.body, settings.signer, settings.now())
  keep(pathOf(settings.folder, origin), `${noteOf(checkpoint)}${line}`)
  return { status: 200, text: line }
}

function noteOf({ body, signatures }: SignedCheckpoint): string {
  const lines = signatures.map(
    ({ name, id, signature }) => `— ${name} ${Buffer.concat([id, signature]).toString('base64')}\n`,
  )
  return `${body}\n${lines.join('')}`
}

/** The checkpoint that was confirmed last, with the line of the witness; null if there is none. */
export function newestConfirmed(folder: string, origin: string): SignedCheckpoint | null {
  const text = newestText(folder, origin)
  return text === null ? null : readCheckpoint(text)
}

function newestText(folder: string, origin: string): string | null {
  try {
    return readFileSync(pathOf(folder, origin), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

function pathOf(folder: string, origin: string): string {
  return join(folder, `${createHash('sha256').update(origin).digest('hex').slice(0, 32)}.checkpoint`)
}

/** Survives a crash at any moment: the old text or the new one. */
function keep(path: string, text: string): void {
  const file = openSync(`${path}.new`, 'w', 0o600)
  writeSync(file, text)
  fsyncSync(file)
  closeSync(file)
  renameSync(`${path}.new`, path)
  const folder = openSync(join(path, '..'), 'r')
  fsyncSync(folder)
  closeSync(folder)
}
