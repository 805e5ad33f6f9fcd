import { mapBounded } from '../../../src/chain/map-bounded.ts'
import type { Fault } from '../fault.ts'
import { exchange } from '../hostile/raw-http.ts'
import { scrape } from '../hostile/scrape.ts'
import { type IntakeProcess, type Target, targetOf, transfersPath } from '../hostile/target.ts'
import { attackerWord, underAttack } from '../hostile/under-attack.ts'
import { send, sign, signTest } from '../hostile/webhook-sender.ts'
import { mustBeSame } from '../until-same.ts'
import type { ChaosWorld } from '../world.ts'

const attacker = '127.0.0.6'
const lanes = 32
const floodOf = 3000
const scrapesOf = 200
/** A monitor gives up after ten seconds by default, and a busy machine has others to serve. */
const scrapeMaxMs = 10_000

const overload: Fault = {
  name: 'F24',
  title: 'scrapes while more comes in than can be served',
  ground: 'shared',
  async strike(world) {
    const target = targetOf(world)
    await underAttack(target, async ({ url, opsUrl }) => {
      const flood = mapBounded(counted(floodOf), lanes, (place) => {
        const id = `overload-${process.pid}-${Date.now()}-${place}`
        return send({ url, localAddress: attacker }, signTest({ secret: target.secret }, id))
      })
      const scrapes = mapBounded(counted(scrapesOf), lanes / 2, () => timedScrape(opsUrl))
      const [answers, times] = await Promise.all([flood, scrapes])
      const odd = answers.filter(({ status }) => status !== 202 && status !== 503)
      mustBeSame('answers that are neither 202 nor 503', odd, [])
      const slowest = Math.max(...times)
      if (slowest > scrapeMaxMs) throw new Error(`a scrape took ${slowest} ms`)
    })
  },
}

async function timedScrape(opsUrl: string): Promise<number> {
  const startedAt = performance.now()
  const { series } = await scrape(opsUrl)
  if (series < 50) throw new Error(`a scrape told ${series} series`)
  return performance.now() - startedAt
}

const oddOf = 300
/** Work goes on beside it and makes some of its own. A word of each request in a label would make one for each request. */
const growthMax = oddOf / 2

const labels: Fault = {
  name: 'F24',
  title: 'thousands of odd requests, each in words of its own',
  ground: 'shared',
  async strike(world) {
    const target = targetOf(world)
    // Every way of being answered makes a series at its first time, and so does each step of a young world.
    await underAttack(target, (intake) => oddRequests(target, intake, 'first'))
    const before = await seriesOf(world)
    await underAttack(target, (intake) => oddRequests(target, intake, 'second'))
    const grown = (await seriesOf(world)) - before
    if (grown > growthMax) throw new Error(`${grown} series came by odd requests`)
  },
}

/** Of all processes: what is told of a webhook is told where it is applied, too. */
async function seriesOf(world: ChaosWorld): Promise<number> {
  const running = world.daemons().filter((daemon) => daemon.isRunning())
  const scrapes = await Promise.all(running.map(({ opsUrl }) => scrape(opsUrl)))
  return scrapes.reduce((sum, { series }) => sum + series, 0)
}

const methods = ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'TRACE']
async function oddRequests(
  { secret }: Target,
  { url, from, opsUrl }: IntakeProcess,
  run: string,
): Promise<void> {
  const opsPeer = { host: '127.0.0.1', port: Number(new URL(opsUrl).port), localAddress: attacker }
  await mapBounded(counted(oddOf), lanes, async (place) => {
    const word = `${attackerWord}-${run}-${place}`
    const odd = (method: string, path: string) =>
      `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: ${word}\r\n${word}: ${word}\r\nconnection: close\r\n\r\n`
    const method = methods[place % methods.length] ?? 'GET'
    await exchange(from(attacker), odd(method, `${transfersPath}?${word}`))
    await exchange(from(attacker), odd(method, `/${word}`))
    await exchange(opsPeer, odd(method, `/${word}`))
    await exchange(opsPeer, odd('GET', `/metrics?name[]=${word}`))
    const forged = signTest({ secret }, word)
    const strange = { ...forged.headers, 'webhook-signature': `v1,${word}`, 'content-type': word }
    await send({ url, localAddress: attacker }, { ...forged, headers: strange })
    // Genuine, and in words that nobody has heard of.
    const type = JSON.stringify({
      id: word,
      type: `endpoint.test`,
      network: word,
      kind: word,
      data: { network: word },
    })
    mustBeSame('an odd event', (await send({ url }, sign({ secret }, word, type))).status, 202)
  })
}

const counted = (count: number) => Array.from({ length: count }, (_, place) => place)

export const scrapes: Fault[] = [overload, labels]
