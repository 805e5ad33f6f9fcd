import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { isInstalled } from './programs-needed.ts'
import { until } from './until.ts'

export const mailInstalled = (): boolean => isInstalled('aiosmtpd')

/** Header names are in lower case. */
export type ReceivedMail = { headers: Readonly<Record<string, string>>; text: string }

export type MailServer = {
  url: string
  /** In the order in which they came. */
  mails: () => ReceivedMail[]
  stop: () => Promise<void>
  start: () => Promise<void>
} & AsyncDisposable

/** A real SMTP server on a free loopback port, which keeps what it accepts in a folder of mail. */
export async function startMailServer(): Promise<MailServer> {
  const folder = mkdtempSync(join(tmpdir(), 'depositd-mail-'))
  const port = await freePort()
  let server = await run(port, folder)
  const stop = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return
    server.kill('SIGKILL')
    await once(server, 'exit')
  }
  return {
    url: `smtp://${loopback}:${port}`,
    mails: () => mailsIn(join(folder, 'box', 'new')),
    stop,
    async start() {
      server = await run(port, folder)
    },
    async [Symbol.asyncDispose]() {
      await stop()
      rmSync(folder, { recursive: true })
    },
  }
}

async function run(port: number, folder: string) {
  const words = ['-n', '-l', `${loopback}:${port}`, '-c', 'aiosmtpd.handlers.Mailbox', join(folder, 'box')]
  const server = spawn('aiosmtpd', words, { stdio: 'ignore' })
  await until('the mail server listens', () => answers(port))
  return server
}

async function answers(port: number): Promise<true | null> {
  const socket = connect(port, loopback)
  try {
    await once(socket, 'data')
    return true
  } catch {
    return null
  } finally {
    socket.destroy()
  }
}

function mailsIn(folder: string): ReceivedMail[] {
  return readdirSync(folder)
    .toSorted((one, other) => orderOf(one) - orderOf(other))
    .map((name) => mailOf(readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n')))
}

/** A name in a folder of mail has the number of the delivery: `1764335205.M1P2Q3.host`. */
function orderOf(name: string): number {
  const [, seconds, microseconds] = /^(\d+)\.M(\d+)/.exec(name) ?? []
  return Number(seconds) * 1e6 + Number(microseconds)
}

function mailOf(text: string): ReceivedMail {
  const end = text.indexOf('\n\n')
  const lines = text
    .slice(0, end)
    .replaceAll(/\n[ \t]+/g, ' ')
    .split('\n')
  const headers = lines.map((line) => /^([^:]+): ?(.*)$/.exec(line) ?? [])
  const body = text.slice(end + 2)
  return {
    headers: Object.fromEntries(headers.map(([, name = '', value = '']) => [name.toLowerCase(), value])),
    text: headers.some(([line = '']) => /quoted-printable/.test(line)) ? unquoted(body) : body,
  }
}

function unquoted(text: string): string {
  return text
    .replaceAll('=\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_sign, code: string) => String.fromCharCode(Number(`0x${code}`)))
}
