#!/usr/bin/env node
// The program is TypeScript, which Node runs as it is from 24 on. An older Node runs this file again on the Node that
// npm ci installed here. That is why this file is plain JavaScript.
import { spawn } from 'node:child_process'
import module from 'node:module'
import { fileURLToPath } from 'node:url'

if (Number(process.versions.node.split('.')[0]) < 24) runOnInstalledNode()
else {
  endWithParent()
  // Halves the time to start. Only who may change the program may change what is kept of it, and where that is not the
  // user, nothing is kept.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/depositd', import.meta.url)))
  await import('../src/main.ts')
}

/** The child ends as this process is asked to, and this process ends as the child did. */
function runOnInstalledNode() {
  const node = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url))
  const words = [fileURLToPath(import.meta.url), ...process.argv.slice(2)]
  // The child sees the channel close when this process ends in any way, also by kill -9.
  const child = spawn(node, words, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP']
  for (const signal of signals) process.on(signal, () => child.kill(signal))
  child.once('error', () => {
    process.stderr.write(
      `depositd: Node 24 is needed, this is ${process.version}, and there is no ${node}; run npm ci in the checkout, or use a newer Node\n`,
    )
    process.exit(2)
  })
  child.once('exit', (code, signal) => {
    if (signal === null) process.exit(code)
    for (const forwarded of signals) process.removeAllListeners(forwarded)
    process.kill(process.pid, signal)
  })
}

function endWithParent() {
  if (process.channel === undefined) return
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  // Listening for its end must not keep a command running that has finished.
  process.channel.unref()
}
