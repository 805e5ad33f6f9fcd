import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceName } from '../../../src/core/evidence.ts'
import { claim, delivery, payment, webhook } from '../../support/evidence.ts'
import { outcomes, verifyDocument } from '../../support/evidence-bundle.ts'
import { type EvidenceWorld, openEvidenceWorld, secretOfNamed } from '../../support/evidence-world.ts'

const acme = 'acme' as ServiceName
let world: EvidenceWorld
let text: string

/** Two services claim one payment, so that the bundle of the deposit has the webhooks of both. */
beforeAll(async () => {
  world = await openEvidenceWorld(acme)
  await world.see(payment(), delivery())
  await world.post(webhook())
  await world.list(claim())
  await world.post(webhook(), { service: acme })
  await world.books.settle()
  const path = join(world.folder, 'bundle.json')
  expect(await world.run(`deposits evidence dep_1 --out ${path}`)).toMatchObject({ status: 0, err: '' })
  text = readFileSync(path, 'utf8')
})
afterAll(() => world[Symbol.asyncDispose]())

test('the bundle has both services with their profiles, and no secret of either', () => {
  const { parts } = JSON.parse(text) as { parts: { services: object; evidence: { service: string }[] } }
  expect(Object.keys(parts.services)).toEqual(['acme', 'default'])
  expect(new Set(parts.evidence.map(({ service }) => service))).toEqual(new Set(['acme', 'default']))
  expect(text).not.toContain(secretOfNamed)
})

test('each row is read again by the profile of its service', async () => {
  const { status, ...printed } = await verifyDocument(world, text)
  expect(status).toBe(0)
  expect(outcomes(printed)).toMatchObject({
    readings: 'passed',
    verdict: 'passed',
    mismatches: 'passed',
    signatures: 'not done',
    'signatures acme': 'not done',
  })
  expect(printed.checks.find(({ check }) => check === 'signatures acme')?.says).toContain(
    'set WEBHOOK_SECRETS_ACME',
  )
})

test("each service's webhooks are verified by its own scheme and secret", async () => {
  const environment = { WEBHOOK_SECRETS: world.secret, WEBHOOK_SECRETS_ACME: secretOfNamed }
  const right = await verifyDocument(world, text, { environment })
  expect(outcomes(right)).toMatchObject({ signatures: 'passed', 'signatures acme': 'passed' })
  const wrong = await verifyDocument(world, text, {
    environment: { ...environment, WEBHOOK_SECRETS_ACME: 'another' },
  })
  expect(outcomes(wrong)).toMatchObject({ signatures: 'passed', 'signatures acme': 'failed' })
})
