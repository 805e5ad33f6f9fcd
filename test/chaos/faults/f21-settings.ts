import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mapBounded } from '../../../src/chain/map-bounded.ts'
import type { Fault } from '../fault.ts'
import { holdEnd, spawnDaemon } from '../hostile/another-daemon.ts'
import type { Random } from '../random.ts'
import type { ChaosWorld } from '../world.ts'

const page = join(import.meta.dirname, '../../../docs/settings.md')
const namesMin = 15
const besideEachOther = 4

/** For those that the world leaves to their defaults. */
const values: Record<string, string> = {
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
  OTEL_EXPORTER_OTLP_HEADERS: 'name=value',
  OTEL_SERVICE_NAME: 'depositd',
  OTEL_TRACES_SAMPLER_ARG: '1',
  WEBHOOK_SCHEME: 'standard-webhooks',
  LOG_LEVEL: 'info',
  HTTP_HOST: '127.0.0.1',
  OPS_HOST: '127.0.0.1',
}

export const misspelt: Fault = {
  name: 'F21',
  title: 'each setting with a letter changed',
  ground: 'shared',
  async strike(world, random) {
    const names = (await documentedNames()).filter((name) => isRead(name, world))
    if (names.length < namesMin) throw new Error(`the page names ${names.length} settings`)
    await mapBounded(names, besideEachOther, (name) => holdNamed(world, name, changed(name, random)))
  },
}

/** Nobody asks for the node of a network that is not watched, and what is Node's own is no setting under another name. */
function isRead(name: string, { networks }: ChaosWorld): boolean {
  if (name.startsWith('NODE_')) return false
  return !name.startsWith('RPC_') || networks.some((network) => name === `RPC_${network.name.toUpperCase()}`)
}

/** Of the daemon, from the first table of the page. */
async function documentedNames(): Promise<string[]> {
  const text = await readFile(page, 'utf8')
  const section = /\n## Environment\n([^]*?)\n## /.exec(text)?.[1] ?? ''
  return [...section.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name = '']) => name)
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('')

/** Another letter in one place. */
function changed(name: string, random: Random): string {
  const place = random.between(0, name.length - 1)
  const letter = random.pick(letters.filter((one) => one !== name[place]))
  return name.slice(0, place) + letter + name.slice(place + 1)
}

/** The program refuses to start, and names the setting, as it is or as it was written. */
async function holdNamed(world: ChaosWorld, name: string, wrong: string): Promise<void> {
  const value = world.environment[name] ?? values[name] ?? '1'
  // A setting that is given as a file has no typo.
  const environment = { ...values, [name]: null, [`${name}_FILE`]: null, [wrong]: value }
  await using daemon = await spawnDaemon(world, { environment })
  await holdEnd(`the exit status with ${wrong} in the place of ${name}`, daemon, 2)
  const reported = daemon.output()
  if (!reported.includes(name) && !reported.includes(wrong))
    throw new Error(`${wrong} is not named: ${reported}`)
}
