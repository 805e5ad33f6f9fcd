import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { startServiceAlone } from '../../src/sandbox/sandbox-service.ts'
import { makeFolder } from './make-folder.ts'
import { type Line, sessionParts } from './session-lines.ts'
import { inAnyFolder, shell } from './shell.ts'
import { until } from './until.ts'

/**
 * A session with the deposit service, as `docs/deposit-service.md` shows it: every line is run by a shell against a
 * service on local chains, and what it wrote is kept. Its seed is fixed, so that its addresses and amounts are the
 * same each time; what differs all the same is replaced by a sample.
 */
export async function runSession(): Promise<string> {
  const folder = makeFolder('depositd-session-')
  mkdirSync(join(folder, '.depositd'))
  writeFileSync(join(folder, '.depositd/secrets.json'), JSON.stringify(secrets))
  const settings = {
    folder: join(folder, '.depositd'),
    log: pino({ level: 'silent' }),
    onPart: () => undefined,
    faults: null,
  }
  const alone = await startServiceAlone(settings)
  try {
    const place = { folder, url: alone.service.url, exports: [] }
    const parts: string[] = []
    for (const { says, lines } of sessionParts) {
      const said: string[] = []
      for (const line of lines) said.push(await runLine(line, place))
      parts.push(`${says}\n\n\`\`\`console\n${said.join('\n')}\n\`\`\`\n`)
    }
    return pinned(parts.join('\n'), alone.service.url)
  } finally {
    await alone.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A seed that everybody knows, for addresses that nobody else may use. */
const secrets = {
  readKey: `dsk_00000001_${'0'.repeat(48)}`,
  writeKey: `dsk_00000002_${'0'.repeat(48)}`,
  webhookSecret: `whsec_${Buffer.alloc(24).toString('base64')}`,
  seed: 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
}

type Place = { folder: string; url: string; exports: string[] }

/** The line as it is shown, and what it wrote to both its outputs. Where it has to wait, it is run until it has. */
async function runLine({ shown, waitsFor }: Line, place: Place): Promise<string> {
  const ask = async (): Promise<string | null> => {
    const said = await run(shown, place)
    return waitsFor === undefined || said.includes(waitsFor) ? said : null
  }
  const said = await until(`"${shown}" answers ${waitsFor ?? ''}`, ask, 60_000)
  return [`$ ${shown}`, ...(said === '' ? [] : [said])].join('\n')
}

/** Each line has a shell of its own; what lines before it exported is exported again. */
async function run(shown: string, { folder, url, exports }: Place): Promise<string> {
  const line = inAnyFolder(shown.replace(usualUrl, url))
  if (line.startsWith('export ')) exports.push(line)
  const { out, err } = await shell([...exports, line].join('\n'), { folder })
  return `${err}${indented(out.trim())}`.trimEnd()
}

const widthMax = 110

/** JSON as a person writes it: on one line where it fits. */
function indented(text: string): string {
  const document = parsed(text)
  return document === undefined ? text : written(document, '')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function written(value: unknown, margin: string, taken = 0): string {
  const flat = flatOf(value)
  if (typeof value !== 'object' || value === null || margin.length + taken + flat.length < widthMax)
    return flat
  const inner = `${margin}  `
  if (Array.isArray(value))
    return `[\n${value.map((item) => inner + written(item, inner)).join(',\n')}\n${margin}]`
  const fields = Object.entries(value).map(
    ([name, item]) => `${inner}"${name}": ${written(item, inner, name.length + 5)}`,
  )
  return `{\n${fields.join(',\n')}\n${margin}}`
}

function flatOf(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${value.map(flatOf).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).map(([name, item]) => `"${name}": ${flatOf(item)}`)
  return `{ ${fields.join(', ')} }`
}

const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`
const usualUrl = 'http://127.0.0.1:18080'

/**
 * What no seed decides: ids, transactions, blocks and times, each by a sample, the same one for the same thing. The
 * clocks of the chains and ours are not in step, so a time is known by its field.
 */
function pinned(text: string, url: string): string {
  const patterns: [RegExp, (place: number) => string][] = [
    [/dep_[0-9a-f]{24}/g, (place) => `dep_${(place + 1).toString().padStart(24, '0')}`],
    [/0x[0-9a-f]{64}/g, (place) => `0x${(place + 1).toString(16).repeat(64)}`],
    [new RegExp(`"time": "${time}"`, 'g'), (place) => `"time": "2026-11-20T12:00:0${place * 2}.000Z"`],
    [new RegExp(`"created_at": "${time}"`, 'g'), () => '"created_at": "2026-11-20T12:00:01.000Z"'],
    [new RegExp(`"updated_at": "${time}"`, 'g'), () => '"updated_at": "2026-11-20T12:00:03.000Z"'],
    [/(?<="block": "|in block )\d+/g, () => '42'],
  ]
  return patterns.reduce(
    (whole, [pattern, sample]) => replaced(whole, pattern, sample),
    text.replaceAll(url, usualUrl),
  )
}

/** Each distinct match by its own sample, in the order in which they appear. */
function replaced(text: string, pattern: RegExp, sample: (place: number) => string): string {
  const found = [...new Set(text.match(pattern))]
  return text.replaceAll(pattern, (match) => sample(found.indexOf(match)))
}
