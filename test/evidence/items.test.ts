import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import type { ServiceId } from '../../src/core/evidence.ts'
import { applyPending } from '../../src/jobs/books/apply.ts'
import { createClaimReader } from '../../src/provider/read-claim.ts'
import { storeWebhooks } from '../../src/store/webhooks.ts'
import { at, payment, txId, webhook } from '../support/evidence.ts'
import { outcomes, verifyDocument } from '../support/evidence-bundle.ts'
import { openEvidenceWorld } from '../support/evidence-world.ts'
import { ownEvent, vocabulary } from '../support/own-payloads.ts'
import { batchingProfile } from '../support/profile.ts'
import { signStandardWebhook } from '../support/sign-webhook.ts'

test('the second item of a webhook is verified by the signature of the whole body', async () => {
  await using world = await openEvidenceWorld()
  const { books, folder, secret } = world
  const own = parse(readFileSync('profiles/depositd.yaml', 'utf8')) as { webhook: object }
  const profile = { ...own, webhook: { ...own.webhook, items: 'events' } }
  writeFileSync(join(folder, 'batching.yaml'), stringify(profile))
  const path = join(folder, 'settings.yaml')
  const settings = parse(readFileSync(path, 'utf8')) as { service: object }
  const service = { ...settings.service, profile: './batching.yaml' }
  writeFileSync(path, stringify({ ...settings, service }))
  const [first, second] = [txId('pay 1'), txId('pay 2')]
  const claims = [
    webhook({ deposit: { tx: first } }),
    webhook({ serviceId: 'dep_2' as ServiceId, deposit: { tx: second, amount: 7n as never } }),
  ]
  const events = claims.map((claim) => ownEvent(claim, { type: 'deposit.settled', status: 'settled' }))
  const [id, body] = ['b1', Buffer.from(JSON.stringify({ events }))]
  const headers = signStandardWebhook({ secret, id, body, at: at(5) })
  const row = { source: 'webhook', sourceKey: id, body, headers, receivedAt: at(5), copiesAt: [] } as const
  await storeWebhooks(books.db, [row])
  await world.see(payment({ tx: first }), payment({ tx: second, amount: 7n as never }))
  const deps = { ...books.deps, readClaim: createClaimReader(batchingProfile, vocabulary) }
  while ((await applyPending(deps)).rows > 0) continue
  await books.settle()
  const found = await books.db.selectFrom('deposit').selectAll().where('service_id', '=', 'dep_2').execute()
  const file = join(folder, 'bundle.json')
  const made = await world.run(`deposits evidence ${found[0]?.id} --out ${file}`)
  expect(made).toEqual({ status: 0, err: '', out: expect.any(String) })
  const text = readFileSync(file, 'utf8')
  expect(text).toContain('"key": "b1 item:2"')
  const verified = await verifyDocument(world, text, { environment: { WEBHOOK_SECRETS: secret } })
  expect(outcomes(verified)).toMatchObject({ readings: 'passed', verdict: 'passed', signatures: 'passed' })
})
