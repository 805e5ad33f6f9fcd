import { execFileSync, spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Document } from '../support/evidence-bundle.ts'
import { makeBundleOfTwo } from '../support/evidence-bundle.ts'
import { type EvidenceWorld, openEvidenceWorld } from '../support/evidence-world.ts'
import { readText } from './pages.ts'

const isInstalled = ['jq', 'sha256sum', 'openssl', 'xxd'].every(
  (name) => spawnSync(name, ['--version']).error === undefined,
)

/** The blocks of the section of the page, and what they print of a real bundle. */
describe.skipIf(!isInstalled)('verifying by hand', () => {
  let world: EvidenceWorld
  let document: Document
  let blocks: string[]

  beforeAll(async () => {
    world = await openEvidenceWorld()
    const { text } = await makeBundleOfTwo(world)
    document = JSON.parse(text) as Document
    const [, section = ''] = readText('docs/evidence.md').split('\n## By hand\n')
    blocks = [...section.matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block)
  })
  afterAll(() => world[Symbol.asyncDispose]())

  function shell(script: string): string {
    const environment = { ...world.environment, PATH: '/usr/local/bin:/usr/bin:/bin' }
    return execFileSync('sh', ['-c', script], { cwd: world.folder, env: environment, encoding: 'utf8' })
  }

  test('the hashes are those of jq and sha256sum', () => {
    const evidence = document.parts.evidence as { bodySha256: string }[]
    const printed = shell(blocks[0] ?? '')
    expect(
      printed
        .split('\n')
        .slice(0, 5)
        .map((line) => line.replace(/ .*/, '')),
    ).toEqual([
      'form',
      document.sha256.parts.evidence,
      document.sha256.whole,
      evidence[0]?.bodySha256,
      (document.parts.services as { default: { profile: { sha256: string } } }).default.profile.sha256,
    ])
    expect(printed).toContain('assets:in_transit:base\tliabilities:suspense\t')
  })

  test('the signature is the one of openssl', () => {
    const evidence = document.parts.evidence as { source: string; headers: Record<string, string> }[]
    const hook = evidence.find(({ source }) => source === 'webhook')
    expect(`v1,${shell(blocks[1] ?? '').trim()}`).toBe(hook?.headers['webhook-signature'])
  })
})
