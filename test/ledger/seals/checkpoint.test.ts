import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  checkpointBody,
  cosign,
  isSignedBy,
  makeSigningKey,
  type NoteKey,
  readCheckpoint,
  readCheckpoints,
  readSigningKey,
  readVerifierKey,
  verifierKeyText,
  writeCheckpoint,
} from '../../../src/ledger/checkpoint.ts'
import { hashOf } from '../../../src/ledger/sealed-row.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'

const folder = temporaryFolderOfFile()
const { text, signer } = makeSigningKey('example.com/books', 'log')
const head = { origin: signer.name, size: 12, root: hashOf('leaf', 'any') }
const note = writeCheckpoint(head, signer)
const publicKey = (key: NoteKey): NoteKey => readVerifierKey(verifierKeyText(key)) ?? key

test('a key is read again as it was written, and signs for its public part', () => {
  const again = readSigningKey(text)
  expect(again?.privateKey.equals(signer.privateKey)).toBe(true)
  expect(isSignedBy(readCheckpoint(note) ?? fail(), publicKey(signer))).toBe(true)
})

function fail(): never {
  throw new Error('it is not read')
}

test.each([
  ['nothing', ''],
  ['another name than its id', text.replace('example.com', 'example.org')],
  ['a byte less', text.slice(0, -4)],
  ['another kind of key', text.replace(/\+AQ?/, '+/')],
])('%s is no key', (_what, wrong) => {
  expect(readSigningKey(wrong)).toBeNull()
  expect(readVerifierKey(wrong)).toBeNull()
})

test('a checkpoint is read again, and written as c2sp.org/tlog-checkpoint says', () => {
  const read = readCheckpoint(note)
  expect(read).toMatchObject(head)
  expect(note.split('\n').slice(0, 4)).toEqual(['example.com/books', '12', head.root.toString('base64'), ''])
  expect(
    readCheckpoints(note + writeCheckpoint({ ...head, size: 13 }, null))?.map(({ size }) => size),
  ).toEqual([12, 13])
  for (const bad of [note.slice(1), `${note}x`, note.replace('12', '012'), 'example.com/books\n'])
    expect(readCheckpoints(bad)?.length ?? 0, bad).not.toBe(2)
})

test('the key of the first administrator stands in an extension line, which is signed', () => {
  const named = writeCheckpoint({ ...head, administrator: 'erin+01020304+AT' }, signer)
  expect(named.split('\n')[3]).toBe('administrator erin+01020304+AT')
  const read = readCheckpoint(named) ?? fail()
  expect([read.administrator, isSignedBy(read, publicKey(signer))]).toEqual(['erin+01020304+AT', true])
  const other = readCheckpoint(named.replace('erin', 'eve')) ?? fail()
  expect(isSignedBy(other, publicKey(signer))).toBe(false)
  const all = readCheckpoints(note + named + note)
  expect(all?.map(({ administrator }) => administrator)).toEqual([null, 'erin+01020304+AT', null])
})

test('openssl accepts the signature', () => {
  const der = publicKey(signer).publicKey.export({ format: 'pem', type: 'spki' })
  writeFileSync(join(folder, 'key.pem'), der)
  writeFileSync(join(folder, 'body'), checkpointBody(head))
  writeFileSync(join(folder, 'signature'), readCheckpoint(note)?.signatures[0]?.signature ?? '')
  const words = 'pkeyutl -verify -pubin -inkey key.pem -rawin -in body -sigfile signature'
  expect(execFileSync('openssl', words.split(' '), { cwd: folder }).toString()).toContain(
    'Verified Successfully',
  )
})

describe('a signature is refused', () => {
  const other = makeSigningKey('example.com/books', 'log').signer
  test.each([
    ['of another key of the same name', writeCheckpoint(head, other)],
    ['over another size', note.replace('\n12\n', '\n13\n')],
    ['of nobody', writeCheckpoint(head, null)],
  ])('%s', (_what, wrong) => {
    expect(isSignedBy(readCheckpoint(wrong) ?? fail(), publicKey(signer))).toBe(false)
  })
})

test('a witness adds its line with its time, and neither key is taken for the other', () => {
  const witness = makeSigningKey('witness.example/w1', 'witness').signer
  const body = checkpointBody(head)
  const line = cosign(body, witness, new Date('2026-01-01T00:00:00Z'))
  const read = readCheckpoint(note + line) ?? fail()
  expect(isSignedBy(read, publicKey(witness))).toBe(true)
  expect(isSignedBy(read, publicKey(signer))).toBe(true)
  expect(isSignedBy(read, { ...publicKey(witness), kind: 'log' })).toBe(false)
  const late = readCheckpoint(writeCheckpoint({ ...head, size: 13 }, signer) + line) ?? fail()
  expect(isSignedBy(late, publicKey(witness)), 'over another checkpoint').toBe(false)
})
