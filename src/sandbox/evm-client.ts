import { createTestClient, defineChain, http, publicActions, walletActions } from 'viem'

/**
 * Talks to a node that holds the keys of its own accounts and mines when it is told to.
 */
export function openEvmClient(url: string, chainId: number) {
  const chain = defineChain({
    id: chainId,
    name: `local chain ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  // Nothing is asked a second time: a payment or a block whose answer is late would be made twice.
  const transport = http(url, { timeout: 60_000, retryCount: 0 })
  return createTestClient({ mode: 'anvil', chain, transport, pollingInterval: 50, cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
}

export type EvmClient = ReturnType<typeof openEvmClient>
