import type { Fault } from '../fault.ts'
import { gather } from '../hostile/crowd.ts'
import { requestHead } from '../hostile/raw-http.ts'
import { type IntakeProcess, type Target, targetOf, transfersPath } from '../hostile/target.ts'
import { underAttack } from '../hostile/under-attack.ts'
import { send, signTest } from '../hostile/webhook-sender.ts'
import { mustBeSame } from '../until-same.ts'

/** As docs/settings.md has it: of one client, and of all. */
const connectionsPerSource = 1024
const connectionsMax = 4096
const crowdOf = 10_000

const json = ['content-type', 'application/json'] as const

const slow: Fault = {
  name: 'F19',
  title: 'headers and bodies that come a byte at a time',
  ground: 'shared',
  async strike(world) {
    await underAttack(targetOf(world), async (intake) => {
      const head = `POST ${transfersPath} HTTP/1.1\r\nhost: x\r\n`
      const drips = { count: 300, drip: 'x', dripEveryMs: 200 }
      await using headers = await gather(intake, { ...drips, first: head })
      const long = requestHead(transfersPath, [json, ['content-length', '100000']])
      await using slowBodies = await gather(intake, { ...drips, addresses: ['127.0.0.3'], first: long })
      const chunks = requestHead(transfersPath, [json, ['transfer-encoding', 'chunked']])
      const endless = { ...drips, addresses: ['127.0.0.4'], first: chunks, drip: '1\r\nx\r\n' }
      await using dripping = await gather(intake, endless)
      for (const crowd of [headers, slowBodies, dripping]) {
        await crowd.until('all slow clients are sent away', ({ open }) => open === 0)
        mustBeSame('answers to slow clients', Object.keys(crowd.reported().answered), ['408'])
      }
    })
  },
}

const idle: Fault = {
  name: 'F19',
  title: 'ten thousand idle connections of one client',
  ground: 'shared',
  async strike(world) {
    await underAttack(targetOf(world), async (intake) => {
      await using crowd = await gather(intake, { count: crowdOf })
      await crowd.until('the crowd is cut', ({ closed }) => closed >= crowdOf - connectionsPerSource)
      await crowd.until('the rest is given up', ({ open }) => open === 0)
      mustBeSame('connections that were made', crowd.reported().opened, crowdOf)
    })
  },
}

/** Twelve clients that each may have a quarter of all connections, and that come back when they are sent away. */
const spread: Fault = {
  name: 'F19',
  title: 'every connection taken by many clients, which come again',
  ground: 'shared',
  async strike(world) {
    const target = targetOf(world)
    await underAttack(target, async (intake) => {
      const addresses = Array.from({ length: 12 }, (_, place) => `127.0.0.${place + 10}`)
      await using crowd = await gather(intake, { count: crowdOf, addresses, isStubborn: true })
      await crowd.until('connections are refused', ({ closed }) => closed > crowdOf - connectionsMax)
      await holdNewcomers(target, intake)
    })
  },
}

/** Somebody who comes while every place is taken is answered all the same. */
async function holdNewcomers({ secret }: Target, { url }: IntakeProcess): Promise<void> {
  for (let count = 0; count < 20; count++) {
    const webhook = signTest({ secret }, `newcomer-${process.pid}-${Date.now()}-${count}`)
    const answer = await send({ url, localAddress: '127.0.0.201' }, webhook)
    mustBeSame('the answer to a newcomer', answer, { status: 202, code: 'stored' })
  }
}

export const slowClients: Fault[] = [slow, idle, spread]
