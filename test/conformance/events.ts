import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Run } from './fact.ts'
import { must, NotChecked } from './outcome.ts'
import { openChannel } from './owners.ts'
import { eventually, pay, untilArrived } from './payments.ts'
import { lent, type Subject } from './subject.ts'

const loopback = '127.0.0.1'

/**
 * A transfer is told of from its start, before the money has arrived, to its end, after it has. How a webhook is
 * registered is not shown, so a command does it; in what words it speaks neither, so it is known by the address.
 */
export async function mustReportOfTransfer(run: Run): Promise<void> {
  await run.once(followTransfer)
}

async function followTransfer(subject: Subject): Promise<void> {
  if (subject.commands.webhook === undefined) throw new NotChecked('needs --webhook')
  await using receiver = await startReceiver()
  await lent(subject, 'webhook', receiver.url)
  const channel = await openChannel(subject, 'solana')
  const address = await pay(subject, channel, { network: 'base', asset: 'USDC', amount: subject.amount })
  const reported = (): number =>
    receiver.bodies.filter((body) => body.toLowerCase().includes(address.toLowerCase())).length
  await untilArrived(subject, channel)
  await eventually(subject, 'a second webhook of the transfer', async () =>
    Promise.resolve(reported() > 1 ? true : null),
  )
  must(reported() > 1, 'a transfer has a start and a finish')
}

type Receiver = AsyncDisposable & { url: string; bodies: string[] }

async function startReceiver(): Promise<Receiver> {
  const bodies: string[] = []
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    bodies.push(await text(request))
    response.writeHead(204).end()
  }
  const server = createServer((request, response) => void take(request, response))
  server.listen(0, loopback)
  await once(server, 'listening')
  const bound = server.address()
  const port = bound !== null && typeof bound === 'object' ? bound.port : 0
  return {
    url: `http://${loopback}:${port}/`,
    bodies,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
