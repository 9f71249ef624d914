#include "solve/options.h"

tl_options tl_options_default(void)
{
    return (tl_options){
        .line_searches = 1,   /* [FM21 tab. 1]: more line searches only cost time */
        .relaxation = 1.6,    /* usual choice for ADMM [Boyd2011 sec. 3.4.3] */
        .box_looseness = 3.0, /* [FM21 sec. 4.3.4] */
        .newton_steps = 10,   /* [FM21 sec. 5]: up to 10 for contact friction */
    };
}
