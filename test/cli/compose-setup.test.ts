import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { pathOf, textOf } from '../grafana/files.ts'
import { runCommand } from '../support/command.ts'
import { compose, services } from '../support/compose-file.ts'
import { temporaryFolder } from '../support/folder.ts'

const configuration = 'grafana/alertmanager/alertmanager.yml'
const keys = { PAGERDUTY_KEY: 'key', CHAT_URL: 'https://chat.example', WATCHDOG_URL: 'https://dog.example' }

/** The volumes that setup writes, by the folder that each has in it. */
const volumes = (compose.services.setup?.volumes ?? [])
  .filter((volume) => volume.startsWith('secrets-'))
  .map((volume) => volume.split(':/secrets/') as [string, string])

async function emptyVolumes(): Promise<string> {
  const folder = await temporaryFolder()
  for (const [, name] of volumes) mkdirSync(join(folder, name))
  return folder
}

const setup = (folder: string, environment: Record<string, string>) =>
  runCommand(`compose-setup --folder ${folder} --alertmanager ${pathOf(configuration)}`, environment)

/** What setup made, by its path in the folder. */
function madeIn(folder: string): Record<string, string> {
  const paths = volumes.flatMap(([, name]) =>
    readdirSync(join(folder, name)).map((file) => `${name}/${file}`),
  )
  return Object.fromEntries(paths.toSorted().map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
}

/** Every text that the service is given: what the compose file says, and the files that it mounts. */
function textsOf({ environment, command, volumes: mounted }: (typeof services)[number][1]): string[] {
  const sources = mounted
    .map((volume) => volume.split(':')[0] ?? '')
    .filter((source) => source.startsWith('./grafana/p') || source.endsWith('.sql'))
  const files = sources.flatMap((source) =>
    statSync(pathOf(source)).isFile()
      ? [source]
      : readdirSync(pathOf(source), { recursive: true, encoding: 'utf8' })
          .map((name) => join(source, name))
          .filter((name) => name.endsWith('.yml')),
  )
  return [...Object.values(environment), ...command, ...files.map(textOf)]
}

test('setup makes every secret that a service reads, and no other', async () => {
  const folder = await emptyVolumes()
  expect(await setup(folder, keys)).toMatchObject({ status: 0, err: '' })
  const read = services.flatMap(([, service]) => {
    const [, name] = volumes.find(([volume]) => service.volumes.includes(`${volume}:/run/secrets:ro`)) ?? []
    if (name === undefined) return []
    const texts = name === 'alertmanager' ? [...textsOf(service), textOf(configuration)] : textsOf(service)
    return texts.flatMap((text) =>
      [...text.matchAll(/\/run\/secrets\/([\w.]+)/g)].map(([, file]) => `${name}/${file}`),
    )
  })
  expect([...new Set(read)].toSorted()).toEqual(Object.keys(madeIn(folder)))
})

test('setup prints no secret, and keeps each when it runs again', async () => {
  const folder = await emptyVolumes()
  const { out } = await setup(folder, keys)
  const made = madeIn(folder)
  for (const [path, secret] of Object.entries(made))
    expect([path, out.includes(secret)]).toEqual([path, false])
  expect(new Set(Object.values(made)).size).toBe(Object.keys(made).length - 3)
  for (const path of ['grafana/accountant_password', 'daemon/database_url']) rmSync(join(folder, path))
  expect(await setup(folder, keys)).toMatchObject({
    status: 0,
    out: expect.stringContaining('passwords: unchanged'),
  })
  expect(madeIn(folder)).toEqual(made)
})

const rendered = z
  .object({ receivers: z.array(z.object({ name: z.string() }).catchall(z.unknown())) })
  .loose()
const receiversOf = (text: string) => rendered.parse(parse(text)).receivers

test('without a key setup leaves out what would notify by it; the receiver and its routes stay', async () => {
  const folder = await emptyVolumes()
  const { out } = await setup(folder, {})
  expect(out).toContain('alerts notify: no receiver')
  const path = join(folder, 'alertmanager/alertmanager.yml')
  const silent = parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  const whole = parse(textOf(configuration)) as Record<string, unknown>
  expect({ ...silent, receivers: 0 }).toEqual({ ...whole, receivers: 0 })
  const configs = receiversOf(readFileSync(path, 'utf8')).map(({ name, ...kinds }) => [
    name,
    Object.values(kinds).flat(),
  ])
  expect(configs).toEqual(receiversOf(textOf(configuration)).map(({ name }) => [name, []]))
})

test('with its key a receiver notifies as the configuration says, and no longer once the key is gone', async () => {
  const folder = await emptyVolumes()
  const { out } = await setup(folder, keys)
  expect(out).toContain(`alerts notify: ${Object.keys(keys).join(', ')}`)
  const path = join(folder, 'alertmanager/alertmanager.yml')
  expect(receiversOf(readFileSync(path, 'utf8'))).toEqual(receiversOf(textOf(configuration)))
  await setup(folder, { CHAT_URL: keys.CHAT_URL })
  expect(readdirSync(join(folder, 'alertmanager'))).toEqual(['alertmanager.yml', 'chat_url'])
  expect(readFileSync(path, 'utf8')).toMatch(/^(?!.*pagerduty_key)/s)
})

test('setup refuses a key that is set to nothing', async () => {
  const folder = await emptyVolumes()
  expect(await setup(folder, { CHAT_URL: '' })).toMatchObject({
    status: 2,
    err: expect.stringContaining('CHAT_URL'),
  })
})
