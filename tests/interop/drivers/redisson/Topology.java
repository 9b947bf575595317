// How Redisson reaches what the tests have started; see tests/interop/README.md.

import org.redisson.config.Config;

final class Topology {
    private Topology() {}

    // `words` are those of the command line; of what stands at `at` `cluster` and `sentinel` say how the
    // server is reached, and nothing that it is one alone. Where a sentinel knows it, the ports are
    // MASTER,SENTINEL.
    static Config of(String[] words, int at) {
        String how = words.length > at ? words[at] : "";
        String address = "redis://" + words[0] + ":";
        Config config = new Config();
        switch (how) {
            case "cluster":
                config.useClusterServers().addNodeAddress(address + words[1]);
                break;
            case "sentinel":
                config.useSentinelServers()
                    .setMasterName("main")
                    .setCheckSentinelsList(false)
                    .addSentinelAddress(address + words[1].split(",")[1]);
                break;
            default:
                config.useSingleServer().setAddress(address + words[1]);
        }
        return config;
    }
}
