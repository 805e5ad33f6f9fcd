import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { unprovedDecisive } from '../../../src/cli/onboard/onboard.ts'
import { openSettingsDocument } from '../../../src/cli/onboard/session.ts'
import { runCommand } from '../../support/command.ts'
import { temporaryFolder } from '../../support/folder.ts'

const environment = (path: string) => ({
  DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
  SERVICE_URL: 'https://service.example',
  SERVICE_API_KEY: 'key',
  WEBHOOK_SECRETS: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  RPC_BASE: 'https://base.example',
  DEPOSITD_CONFIG: path,
})

async function settingsFile(text: string): Promise<string> {
  const path = join(await temporaryFolder(), 'depositd.yaml')
  writeFileSync(path, text)
  return path
}

test.each([
  ['onboard ../acme --yes', 'lower-case letters'],
  ['onboard acme --yes', 'the address of the service is missing'],
  ['onboard acme --yes --url https://acme.example --auth [1]', '--auth is no YAML mapping'],
  ['onboard acme --url https://acme.example', 'an answer is needed: Write it?'],
  ['onboard acme --yes --url https://acme.example', 'SERVICE_API_ACME_KEY is missing'],
])('%s is refused, and the settings file stays as it was', async (line, problem) => {
  const text = '# ours\nschedule: { poll: "0 * * * * *" }\n'
  const path = await settingsFile(text)
  const { status, err } = await runCommand(line, environment(path))
  expect(status).toBe(2)
  expect(err).toContain(problem)
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test('an edited settings file keeps its comments, and a change that the check refuses is undone', async () => {
  const text = '# ours\nschedule:\n  poll: "0 * * * * *" # each minute\n'
  const path = await settingsFile(text)
  const file = openSettingsDocument(path)
  file.set(['services', 'acme', 'url'], 'https://acme.example')
  file.set(['services', 'acme', 'paused'], true)
  const refuse = () => {
    expect(readFileSync(path, 'utf8')).toMatch(/^# ours\n[^]*# each minute\n[^]*paused: true/)
    throw new Error('settings that the check refuses')
  }
  expect(() => file.save(refuse)).toThrow('settings that the check refuses')
  expect(file.read(['services', 'acme'])).toEqual({ url: 'https://acme.example', paused: true })
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test('a file that is no YAML is left alone', async () => {
  const path = await settingsFile('services: [')
  expect(() => openSettingsDocument(path)).toThrow('DEPOSITD_CONFIG is not YAML')
  expect(readFileSync(path, 'utf8')).toBe('services: [')
})

test.each([
  ['record.id', false, ['record.id']],
  ['record.deposit.amount', false, ['record.deposit.amount']],
  ['record.owner.id', false, []],
  ['record.id', true, []],
])('%s not proved, edited %s: %j must be proved first', (line, isEdited, open) => {
  const proof = { kind: 'unsure', why: 'too few samples', alternatives: [] } as const
  const proved = { profile: {}, proofs: [{ path: line.split('.'), proof }], missing: [] }
  expect(unprovedDecisive({ proved, isEdited })).toEqual(open)
})
