import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../../support/command.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'

const folder = temporaryFolderOfFile()

function file(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const profile = file(
  'items.yaml',
  `webhook:
  items: events
  kind: { paths: event, words: { paid: deposit, ping: ignored } }
  record: payload
record:
  id: id
  status: { paths: state, words: { DONE: settled } }
  deposit: { network: net, address: to, asset: { paths: token, as: symbol }, amount: amount }
`,
)
const payload = { id: 'd1', state: 'DONE', net: 'base', to: `0x${'a'.repeat(40)}`, token: 'USDC', amount: 7 }
const event = { event: 'paid', payload }
const events = [event, { event: 'ping' }, { ...event, payload: { ...payload, state: 'GONE' } }]
const words = `profile test ${profile} --webhooks ${file('batch.json', JSON.stringify({ events }))}`

test('each item of a webhook is shown', async () => {
  const { status, out } = await runCommand(words, {})
  expect(status).toBe(1)
  expect(out).toContain('webhook 1, item 1: read\n')
  expect(out.slice(out.indexOf('webhook 1, item 2'))).toMatchInlineSnapshot(`
    "webhook 1, item 2: ignored
      by             webhook.kind
      path           events.1.event
      found          ping

    webhook 1, item 3: cannot be read
      path           events.2.payload.state
      found          GONE
      problem        unknown status GONE
      fix            add it to record.status.words
      profile key    record.status

    Read 1 of 3 samples, ignored 1, with the built-in networks.
    Correct the profile and run this command again. The daemon follows, and applies stored payloads.
    "
  `)
})

test('with --json, each item of a webhook is numbered', async () => {
  const { out } = await runCommand(`${words} --json`, {})
  const samples = [1, 2, 3].map((item) => ({ source: 'webhook', number: 1, item }))
  expect(JSON.parse(out)).toMatchObject({ read: 1, ignored: 1, unreadable: 1, samples })
})
