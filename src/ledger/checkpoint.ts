import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import type { TreeHead } from './merkle-tree.ts'

/** Ed25519 keys by their first byte in c2sp.org/signed-note: of a log, and of a witness. */
const noteKeyKinds = { log: 1, witness: 4 } as const

type NoteKeyKind = keyof typeof noteKeyKinds

/** A key that verifies. Its name is the origin of the log, or the name of the witness. */
export type NoteKey = { name: string; kind: NoteKeyKind; id: Buffer; publicKey: KeyObject }

export type NoteSigner = NoteKey & { privateKey: KeyObject }

/** It signs a checkpoint only if the log merely grew since the last one that it signed. */
export type Witness = { url: string; key: NoteKey }

/** The log's state at one moment, as c2sp.org/tlog-checkpoint writes it. */
export type Checkpoint = TreeHead & {
  origin: string
  /** The public key with which the register of people begins, in an extension line. */
  administrator?: string | null
}

type SignatureLine = { name: string; id: Buffer; signature: Buffer }

/** `body` is what is signed. */
export type SignedCheckpoint = Checkpoint & { body: string; signatures: readonly SignatureLine[] }

const [seedPrefix, publicPrefix] = ['302e020100300506032b657004220420', '302a300506032b6570032100'].map(
  (hex) => Buffer.from(hex, 'hex'),
) as [Buffer, Buffer]
const bytesOfKey = 32

/** `text` is `PRIVATE+KEY+{name}+{id}+{key}`, as programs for signed notes read it. */
export function makeSigningKey(name: string, kind: NoteKeyKind): { text: string; signer: NoteSigner } {
  const { privateKey } = generateKeyPairSync('ed25519')
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-bytesOfKey)
  const signer = signerOf(name, kind, seed)
  return { text: `PRIVATE+KEY+${name}+${signer.id.toString('hex')}+${keyText(kind, seed)}`, signer }
}

/** `{name}+{id}+{key}`: what others need to check a signature. */
export function verifierKeyText({ name, kind, id, publicKey }: NoteKey): string {
  return `${name}+${id.toString('hex')}+${keyText(kind, rawKey(publicKey))}`
}

export function readSigningKey(text: string): NoteSigner | null {
  const read = readKey(text, /^PRIVATE\+KEY\+([^\s+]+)\+([0-9a-f]{8})\+(.+)$/)
  const signer = read === null ? null : signerOf(read.name, read.kind, read.key)
  return signer?.id.equals(read?.id ?? Buffer.of()) === true ? signer : null
}

export function readVerifierKey(text: string): NoteKey | null {
  const read = readKey(text, /^([^\s+]+)\+([0-9a-f]{8})\+(.+)$/)
  if (read === null) return null
  const publicKey = createPublicKey({
    key: Buffer.concat([publicPrefix, read.key]),
    format: 'der',
    type: 'spki',
  })
  const key = keyOf(read.name, read.kind, publicKey)
  return key.id.equals(read.id) ? key : null
}

function readKey(text: string, form: RegExp) {
  const [, name = '', id = '', encoded = ''] = form.exec(text) ?? []
  const bytes = Buffer.from(encoded, 'base64')
  const kind = (['log', 'witness'] as const).find((one) => noteKeyKinds[one] === bytes[0])
  if (kind === undefined || bytes.length !== bytesOfKey + 1) return null
  return { name, kind, id: Buffer.from(id, 'hex'), key: bytes.subarray(1) }
}

function signerOf(name: string, kind: NoteKeyKind, seed: Buffer): NoteSigner {
  const privateKey = createPrivateKey({
    key: Buffer.concat([seedPrefix, seed]),
    format: 'der',
    type: 'pkcs8',
  })
  return { ...keyOf(name, kind, createPublicKey(privateKey)), privateKey }
}

function keyOf(name: string, kind: NoteKeyKind, publicKey: KeyObject): NoteKey {
  const hashed = [`${name}\n`, Buffer.of(noteKeyKinds[kind]), rawKey(publicKey)]
  const hash = createHash('sha256')
  for (const piece of hashed) hash.update(piece)
  return { name, kind, id: hash.digest().subarray(0, 4), publicKey }
}

function rawKey(publicKey: KeyObject): Buffer {
  return publicKey.export({ format: 'der', type: 'spki' }).subarray(-bytesOfKey)
}

function keyText(kind: NoteKeyKind, key: Buffer): string {
  return Buffer.concat([Buffer.of(noteKeyKinds[kind]), key]).toString('base64')
}

export function checkpointBody({ origin, size, root, administrator = null }: Checkpoint): string {
  const extension = administrator === null ? '' : `${administratorPrefix}${administrator}\n`
  return `${origin}\n${size}\n${root.toString('base64')}\n${extension}`
}

const administratorPrefix = 'administrator '

/** Without a signer, a note without signatures. */
export function writeCheckpoint(checkpoint: Checkpoint, signer: NoteSigner | null): string {
  const body = checkpointBody(checkpoint)
  return `${body}\n${signer === null ? '' : signNote(body, signer)}`
}

/** The line of a signature, below the text of a note. */
export function signNote(body: string, signer: NoteSigner): string {
  return signatureLine(signer, sign(null, Buffer.from(body), signer.privateKey))
}

/** The line by which a witness confirms that it saw nothing that contradicts the checkpoint: c2sp.org/tlog-cosignature. */
export function cosign(body: string, witness: NoteSigner, at: Date): string {
  const seconds = BigInt(Math.floor(at.getTime() / 1000))
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(seconds)
  const signature = sign(null, cosigned(body, seconds), witness.privateKey)
  return signatureLine(witness, Buffer.concat([time, signature]))
}

function cosigned(body: string, seconds: bigint): Buffer {
  return Buffer.from(`cosignature/v1\ntime ${seconds}\n${body}`)
}

function signatureLine({ name, id }: NoteKey, signature: Buffer): string {
  return `— ${name} ${Buffer.concat([id, signature]).toString('base64')}\n`
}

const noteForm =
  /^(?<body>(?<origin>[^\n]+)\n(?<size>0|[1-9]\d{0,14})\n(?<root>[A-Za-z0-9+/]{43}=)\n(?<extensions>(?:[^\n]+\n)*))\n(?<lines>(?:— \S+ \S+\n)*)$/

/** Null if it is no checkpoint. Checks no signature. */
export function readCheckpoint(text: string): SignedCheckpoint | null {
  const groups = noteForm.exec(text)?.groups
  if (groups === undefined) return null
  const { body = '', origin = '', size = '', root = '', extensions = '', lines = '' } = groups
  const administrator = administratorIn(extensions)
  const signatures = readSignatures(lines)
  return { origin, size: Number(size), root: Buffer.from(root, 'base64'), administrator, body, signatures }
}

function administratorIn(extensions: string): string | null {
  const named = extensions.split('\n').find((line) => line.startsWith(administratorPrefix))
  return named?.slice(administratorPrefix.length) ?? null
}

/** Each line ends. */
export function readSignatures(lines: string): SignatureLine[] {
  return lines
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [, name = '', encoded = ''] = line.split(' ')
      const bytes = Buffer.from(encoded, 'base64')
      return { name, id: bytes.subarray(0, 4), signature: bytes.subarray(4) }
    })
}

/** Checkpoints that were written one after the other; null if the text is anything else. */
export function readCheckpoints(text: string): SignedCheckpoint[] | null {
  const notes = text.match(/(?:[^\n]+\n){3,}\n(?:— [^\n]*\n)*/g) ?? []
  const read = notes.map(readCheckpoint).filter((one) => one !== null)
  return read.length === notes.length && notes.join('') === text ? read : null
}

/** Whether one of its signatures is of this key, and valid. */
export function isSignedBy(
  { body, signatures }: Pick<SignedCheckpoint, 'body' | 'signatures'>,
  key: NoteKey,
): boolean {
  const own = signatures.filter(({ name, id }) => name === key.name && id.equals(key.id))
  return own.length > 0 && own.every(({ signature }) => isValid(body, key, signature))
}

function isValid(body: string, { kind, publicKey }: NoteKey, signature: Buffer): boolean {
  if (kind === 'log') return verify(null, Buffer.from(body), publicKey, signature)
  if (signature.length < 8) return false
  return verify(null, cosigned(body, signature.readBigUInt64BE()), publicKey, signature.subarray(8))
}

/** Self-contained, and checked without the database: c2sp.org/tlog-proof. */
export function writeProof(index: number, path: readonly Buffer[], checkpoint: string): string {
  const hashes = path.map((hash) => `${hash.toString('base64')}\n`).join('')
  return `c2sp.org/tlog-proof@v1\nindex ${index}\n${hashes}\n${checkpoint}`
}

/** A consistency proof with its newer checkpoint, as c2sp.org/tlog-witness sends it. */
export function writeConsistency(older: number, proof: readonly Buffer[], checkpoint: string): string {
  const hashes = proof.map((hash) => `${hash.toString('base64')}\n`).join('')
  return `old ${older}\n${hashes}\n${checkpoint}`
}
